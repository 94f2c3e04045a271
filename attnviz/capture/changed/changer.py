"""Applies changes while a model runs: which call is which, and where it lies in its sequence.

In: functions of stages by `CallPlace`, the n-th call of a module in a pass. Out: at each attention
call, its inputs with the changes that it has, and its output with them made. Where a model computes
attention with code of its own, W_O is given the changed outputs to read; a change before these
needs the call as it was seen while it ran. A pass begins when the
outermost module that holds a place is called: `generate` runs an encoder outside the model's own
forward. How many tokens came before is asked of the key cache, not told from the shapes: a sliding
cache keeps the last keys only.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stage_changes import StageChange
from attnviz.capture.changed.changed_output import applied
from attnviz.capture.changed.passes import ForwardPass, first_key, pass_of
from attnviz.capture.changed.seen_calls import Bound, SeenCalls, outputs_read
from attnviz.capture.record.interface import Changes, changing
from attnviz.types import Kind


@dataclass(frozen=True)
class CallPlace:
    """One attention call of a pass: the n-th call of a module."""

    module: str
    nth: int = 0


@dataclass(frozen=True)
class PlacedChanges:
    """The changes at one place; `kind` and `decodes` say along which texts its axes lie.

    `output_layer` is the name of the layer that reads the outputs of its `n_heads` heads, W_O; None
    if it is not known, or if they are `read_by_product` with a parameter.
    """

    changes: tuple[StageChange, ...]
    kind: Kind = "self"
    decodes: bool = False  # the queries are a decoder's, beside an encoder
    n_heads: int = 0
    output_layer: str | None = None
    read_by_product: bool = False

    @property
    def only_outputs(self) -> bool:
        """True if nothing before the heads' outputs is changed."""
        return all(change.stage == "mixed" for change in self.changes)


class Changer:
    """The changes of some passes; a context variable of the attention function holds it.

    `made` are the places whose changes were made, `ran` the names of the modules on
    the way to a place that ran, `n_passes` counts the passes. `acts_as` is the object that
    attention is handed to instead of the changer, None for the changer itself.
    """

    def __init__(
        self, modules: Mapping[str, nn.Module], by_place: Mapping[CallPlace, PlacedChanges]
    ) -> None:
        self.modules = modules
        self.made: set[CallPlace] = set()
        self.ran: set[str] = set()
        self.n_passes = 0
        self.acts_as: Changes | None = None
        self._seen_calls: SeenCalls | None = None  # of own code, where it is watched
        self._at_function: set[CallPlace] = set()  # the places of this pass
        self._by_place = by_place
        self._names = {id(module): name for name, module in modules.items()}
        self._counts: Counter[str] = Counter()
        self._depth = 0
        self._pass = ForwardPass()
        self._handles: list[RemovableHandle] = []
        for module in _holders(modules, by_place):
            enter = module.register_forward_pre_hook(self._enter, with_kwargs=True)
            leave = module.register_forward_hook(self._leave, always_call=True)
            self._handles += [enter, leave]
        readers = {
            placed.output_layer: place.module
            for place, placed in by_place.items()
            if placed.output_layer is not None
        }
        self._read_by_products = tuple(
            dict.fromkeys(p.module for p, placed in by_place.items() if placed.read_by_product)
        )
        for layer, module_name in readers.items():
            hook = self._before_output_layer(module_name, layer)
            self._handles.append(modules[layer].register_forward_pre_hook(hook))

    def close(self) -> None:
        """Take the hooks off the model."""
        for handle in self._handles:
            handle.remove()
        self.acts_as = None  # which may hold this object: a circle is freed late
        self._seen_calls = None

    def watch_own_code(self, calls: SeenCalls, modules: Mapping[str, nn.Module]) -> None:
        """Change what own code computes before its heads' outputs, and torch's own modules."""
        self._seen_calls = calls
        for name in {place.module for place in self._by_place}:
            module = module_of(modules, name)
            if isinstance(module, nn.MultiheadAttention):
                hook = self._before_return(name, calls)
                self._handles.append(module.register_forward_hook(hook))

    @property
    def missed(self) -> tuple[CallPlace, ...]:
        """The places whose call did not run."""
        return tuple(place for place in self._by_place if place not in self.made)

    def _enter(self, module: nn.Module, _args: Any, kwargs: Mapping[str, Any]) -> None:
        if not self._is_active:
            return
        if self._depth == 0:
            self.n_passes += 1
            self._counts.clear()
            self._at_function.clear()
            self._pass = pass_of(kwargs)
        self._depth += 1
        self.ran.add(self._name(module))

    def _leave(self, _module: nn.Module, _args: Any, _output: Any) -> None:
        if self._is_active:
            self._depth -= 1

    @property
    def _is_active(self) -> bool:
        """True in the block that it was made for: not in other threads, nor in a block inside."""
        return changing.get() is (self.acts_as or self)

    def _name(self, module: nn.Module) -> str:
        return self._names.get(id(module)) or type(module).__name__

    def place(self, module: nn.Module) -> CallPlace:
        """The place of a call that is made now; each call is counted once."""
        name = self._name(module)
        place = CallPlace(name, self._counts[name])
        self._counts[name] += 1
        return place

    def change(
        self, module: nn.Module, inputs: AttentionInputs, output: Tensor
    ) -> tuple[AttentionInputs, Tensor]:
        """A call's inputs with its changes, and its output with them made."""
        place = self.place(module)
        placed = self._by_place.get(place)
        if placed is None:
            return inputs, output
        self.made.add(place)
        self._at_function.add(place)
        inputs = replace(inputs, changes=self._bound(placed, inputs.n_query, inputs.n_key))
        return inputs, applied(inputs, output)

    def _before_output_layer(
        self, module: str, layer: str
    ) -> Callable[[nn.Module, tuple[Any, ...]], tuple[Any, ...] | None]:
        """A hook that changes what W_O reads, unless the attention function has done so."""

        def change(layer_read: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
            if not self._is_active:
                return None
            place = CallPlace(module, self._counts[layer])
            self._counts[layer] += 1
            placed = self._by_place.get(place)
            if placed is None or place in self._at_function or not args:
                return None
            read = args[0]
            if not (isinstance(read, Tensor) and read.dim() == 3):
                return None
            changed = self._changed_reading(place.module, placed, layer_read, read)
            if changed is None:
                return None
            self.made.add(place)
            return (changed, *args[1:])

        return change

    def _changed_reading(
        self, module: str, placed: PlacedChanges, layer: nn.Module, read: Tensor
    ) -> Tensor | None:
        """The changed outputs of all heads side by side; None for a call that was not seen."""
        bound = partial(self._bound, placed)
        if placed.only_outputs:
            return outputs_read(layer, read, placed.n_heads, bound)
        if self._seen_calls is None:
            return None
        return self._seen_calls.read(module, layer, read, bound)

    def read_by_product(self, read: Tensor) -> Tensor | None:
        """The tensor that a product with a parameter reads in place of `read`; None if that stays.

        It stays unless it is the outputs of a call that is changed, of all heads side by side.
        """
        if not self._is_active or self._seen_calls is None:
            return None
        for module in self._read_by_products:
            bind = partial(self._bound_reader, module)
            changed = self._seen_calls.read_by_product(module, read, bind)
            if changed is not None:
                return changed
        return None

    def _bound_reader(self, module: str) -> tuple[Bound, bool] | None:
        """The changes of the call whose outputs a product reads now, as `SeenCalls` asks for."""
        counted = f"what reads {module}"
        place = CallPlace(module, self._counts[counted])
        self._counts[counted] += 1
        placed = self._by_place.get(place)
        if placed is None:
            return None
        self.made.add(place)
        return partial(self._bound, placed), placed.only_outputs

    def _before_return(
        self, name: str, calls: SeenCalls
    ) -> Callable[[nn.MultiheadAttention, Any, Any], Any]:
        """A hook that changes what torch's own module returns."""

        def change(module: nn.MultiheadAttention, _args: Any, returned: Any) -> Any:
            if not self._is_active:
                return None
            place = self.place(module)
            placed = self._by_place.get(place)
            if placed is None:
                return None
            bound = partial(self._bound, placed)
            changed = calls.returned(name, module, returned[0], bound, placed.only_outputs)
            if changed is None:
                return None
            self.made.add(place)
            return (changed, *returned[1:])

        return change

    def _bound(self, placed: PlacedChanges, n_query: int, n_key: int) -> tuple[StageChange, ...]:
        """The changes, told where in the sequence this call is."""
        now = self._pass
        own = now.written if placed.decodes else now.text
        query = own.at(now.n_before, n_query)
        if placed.kind == "cross":
            key = now.text.at(0, n_key)
        else:
            key = own.at(first_key(now, n_query, n_key), n_key)
        return tuple(
            replace(change, query=query, key=key, writes=now.has_cache) for change in placed.changes
        )


def module_of(modules: Mapping[str, nn.Module], name: str) -> nn.Module | None:
    """The module of a place, which has its class's name if it is the outermost."""
    root = modules.get("")
    return modules.get(name) or (root if type(root).__name__ == name else None)


def _holders(
    modules: Mapping[str, nn.Module], places: Mapping[CallPlace, object]
) -> list[nn.Module]:
    """Every module that holds one of the places, or is one."""
    names = {""}
    for place in places:
        parts = place.module.split(".")
        names |= {".".join(parts[:n]) for n in range(1, len(parts) + 1)}
    return [module for name, module in modules.items() if name in names]
