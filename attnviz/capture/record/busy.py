"""One thread at a time records a module; another one that wants it, or a part of it, waits.

In: the modules to record. Out: a block in which no other thread records any of them: hooks and
transformers' switch belong to a module, not to a thread. A thread may record inside its own block.
"""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from torch import nn

_changed = threading.Condition()
_owners: dict[int, int] = {}  # the thread that records a module, by the module's id


@contextmanager
def alone(modules: Iterable[nn.Module]) -> Iterator[None]:
    """While the block runs, no other thread records these modules."""
    kept = list(modules)  # so that no id is used again
    me = threading.get_ident()
    mine = list(map(id, kept))
    with _changed:
        if _owners:
            _changed.wait_for(lambda: all(_owners.get(number, me) == me for number in mine))
            mine = [number for number in mine if number not in _owners]
        _owners.update(dict.fromkeys(mine, me))
    try:
        yield
    finally:
        with _changed:
            for number in mine:
                del _owners[number]
            _changed.notify_all()
