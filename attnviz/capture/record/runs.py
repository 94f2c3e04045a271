"""The module and run that each call belongs to, and the layer numbers that follow from them.

In: a model that is recorded, and the modules whose calls were seen. Out: a `ModuleRun` for each
call, and calls with `stack` and `layer`. A layer is one run of one module within one forward pass:
a module that runs twelve times (ALBERT) gives twelve layers, and one that attends twice in a run
(DiffLlama) gives two calls of one layer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from torch import Tensor, nn
from transformers import StaticCache

from attnviz.attention.call import AttentionCall
from attnviz.capture.locate.modules import Hooks
from attnviz.capture.locate.structure import stacks
from attnviz.types import Kind


@dataclass(frozen=True)
class ModuleRun:
    """The n-th run of a module within one forward pass of the whole model, counted from 0."""

    module: str
    number: int


class RunCounter:
    """Counts forward passes of a model, and the runs of its modules within each pass.

    A module is counted from its first call on; until then it has run once at most. Unless it
    watches a model there is one pass, in which each module runs once.
    """

    def __init__(self, is_active: Callable[[], bool]) -> None:
        self.n_pass = 0
        self._cache: object = None  # of this pass
        self._is_active, self._watches = is_active, False
        self._runs: dict[str, int] = {}
        self._calls: dict[str, int] = {}
        self._hooks = Hooks()

    def watch(self, model: nn.Module) -> None:
        """Count the passes of a model from now on."""
        self._watches = True
        self._hooks.before(model, self._begin_pass, with_kwargs=True)

    def close(self) -> None:
        """Remove the hooks."""
        self._hooks.remove()

    def fills_slots(self, key: Tensor) -> bool:
        """True if keys are the slots of a static cache, which later passes write into."""
        layers: Sequence[object] = (
            self._cache.layers if isinstance(self._cache, StaticCache) else ()
        )
        slots = (getattr(layer, "keys", None) for layer in layers)  # None until the first pass
        return any(isinstance(own, Tensor) and own.data_ptr() == key.data_ptr() for own in slots)

    def run_of(self, module: nn.Module, name: str) -> ModuleRun:
        """The run of a module that is running now."""
        if name not in self._runs:
            self._runs[name] = 0
            if self._watches:
                self._hooks.before(module, partial(self._count, name))
        return ModuleRun(name, max(self._runs[name], 0))

    def next_call(self, name: str) -> int:
        """The number of the module's calls before this one, in all passes."""
        index = self._calls.get(name, 0)
        self._calls[name] = index + 1
        return index

    def take_back(self, name: str) -> None:
        """Forget the module's last call."""
        self._calls[name] -= 1

    def _begin_pass(self, _module: nn.Module, _args: object, kwargs: Mapping[str, object]) -> None:
        if self._is_active():
            self.n_pass += 1
            self._cache = kwargs.get("past_key_values")
            self._runs = dict.fromkeys(self._runs, -1)

    def _count(self, name: str, _module: nn.Module, _args: object) -> None:
        if self._is_active():
            self._runs[name] += 1


def with_layers(calls: Sequence[AttentionCall], runs: Sequence[ModuleRun]) -> list[AttentionCall]:
    """The calls with their stack, and with layers numbered as they first ran in it."""
    stack_of_module = stacks(dict.fromkeys(call.module for call in calls))
    layers: dict[tuple[object, str], dict[ModuleRun, int]] = {}
    numbered = []
    for call, kind, run in zip(calls, _kinds(calls), runs, strict=True):
        stack = stack_of_module[call.module]
        numbers = layers.setdefault((stack, kind), {})
        numbered.append(call.placed(stack, numbers.setdefault(run, len(numbers)), kind))
    return numbered


def _kinds(calls: Sequence[AttentionCall]) -> list[Kind]:
    """The kind of each call: "cross" where a call of the same module and two lengths is.

    A decoder that asks step by step begins with the encoder's last state, which is one of its keys.
    """

    def sizes(call: AttentionCall) -> tuple[str, int, int]:
        return call.module, call.n_query, call.n_key

    crossing = {
        sizes(call) for call in calls if call.kind == "cross" and call.n_query != call.n_key
    }
    return ["cross" if crossing and sizes(call) in crossing else call.kind for call in calls]
