"""The modules that are to call transformers' attention function, and those of them that ran.

In: a model's modules. Out: the modules whose class asks transformers for its attention function and
that ran in this thread. One of which no call was recorded went another way: it is named, so that it
does not disappear without a word.
"""

from collections.abc import Callable

from torch import nn

from attnviz.capture.locate.modules import Hooks, Modules
from attnviz.capture.locate.own_code import asking_modules


class AskingModules:
    """Keeps which of the modules that ask for transformers' attention function ran, in order."""

    def __init__(self, is_active: Callable[[], bool]) -> None:
        self._is_active = is_active
        self._ran: dict[int, nn.Module] = {}
        self._hooks = Hooks()

    def watch(self, modules: Modules) -> None:
        """Notice those of these modules that run from now on."""
        for name in modules.fact(asking_modules):
            self._hooks.before(modules[name], self._enter)

    @property
    def ran(self) -> list[nn.Module]:
        """The modules that ran while this thread recorded."""
        return list(self._ran.values())

    def close(self) -> None:
        """Remove the hooks."""
        self._hooks.remove()

    def _enter(self, module: nn.Module, _args: object) -> None:
        if self._is_active():
            self._ran[id(module)] = module
