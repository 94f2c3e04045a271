"""Refusals of texts that are too long, kept so that no run of a page tokenises them anew.

In: the key of a capture, and the work that makes it. Out: its result, or the error of the first
time. What another model or setting would refuse has another key.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

from attnviz.errors import TooLarge

MOST = 256
Result = TypeVar("Result")

_refusals: OrderedDict[str, TooLarge] = OrderedDict()


def remembered(key: str, compute: Callable[[], Result]) -> Result:
    """The result of `compute`; raises the `TooLarge` that it raised before for this key."""
    if key in _refusals:
        raise _refusals[key].again()
    try:
        return compute()
    except TooLarge as error:
        _refusals[key] = error.again()
        while len(_refusals) > MOST:
            _refusals.popitem(last=False)
        raise
