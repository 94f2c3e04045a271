"""A forward pass that can be given up between two layers.

In: a model that is locked by this thread, and a check. Out: a `with` block in which the check runs
before each layer; an exception that it raises ends the pass, and the model is left as it was.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch import nn

from attnviz.models.ranks import giving_up, is_led

Check = Callable[[], None]


@contextmanager
def interruptible(model: nn.Module, check: Check | None) -> Iterator[None]:
    """Call `check` before each layer of the model runs; without one, change nothing.

    Layers are the children of lists of modules. A model without such lists is not interrupted.
    """
    if check is None:
        yield
        return

    if is_led(model):  # between two layers the other processes would wait for this one
        token = giving_up.set(check)
        try:
            yield
        finally:
            giving_up.reset(token)
        return

    def before(_module: nn.Module, _inputs: object) -> None:
        check()

    hooks = [layer.register_forward_pre_hook(before) for layer in _layers(model)]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _layers(model: nn.Module) -> Iterator[nn.Module]:
    for module in model.modules():
        if isinstance(module, nn.ModuleList):
            yield from module
