"""Finds W_Q, W_K, W_V and W_O beside an attention call by the memory that they share.

In most models q is a view of the storage that W_Q's linear layer wrote, and W_O's layer reads the
storage that the attention function returned. Names differ between architectures, shared memory does
not, and the strides of the view tell which columns belong to which head, also if one fused layer
makes q, k and v (GPT-2). If the model works on q after the layer (a rotary embedding, a constant
factor, a key cache), no memory is shared: `projections_by_value` compares numbers, and if these do
not agree either, the projection is absent, with that reason.

W_O is the outermost module that reads the attention's output alone: an adapter (LoRA) is a module
around a linear layer, and what the layer itself writes is only a summand. What such a module
computes is told by calling it again, and so it is where a weight cannot be read. Unless nothing but
x·W + b can happen in a layer, it has to lead from what it read to what it wrote. What the model
changes in place later is copied or withdrawn.
"""

import math
from collections import deque
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import partial

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from attnviz.attention.called_layer import CalledLayer
from attnviz.attention.projection import Projection, WrittenLayer, apply_linear
from attnviz.attention.stage_changes import StageChange
from attnviz.attention.tolerance import max_difference
from attnviz.capture.locate.head_share import HeadShare
from attnviz.capture.locate.layers import (
    NO_MEMORY,
    Copies,
    LinearRun,
    is_plain,
    memory_of,
    storage_of,
    version_of,
)
from attnviz.capture.locate.modules import Hooks, Modules, paths_above
from attnviz.capture.locate.own_code import named_attention
from attnviz.capture.locate.projections_by_value import RotationGuess, ValueSearch

# linear layers that ran just before an attention call; more would keep dead tensors alive
RECENT_LAYERS = 8
NOT_A_VIEW = "no linear layer that ran last wrote this tensor as the attention used it"
NOT_CONSUMED = "no linear layer reads the output of the attention as it is"
SEVERAL_READERS = "several layers read the output of the attention: {names}"
CHANGED_LATER = "the model changed this tensor in place after it had used it"
STAGE_OF = {"q": "q", "k": "k", "v": "v", "out": "projected"}
CHECKED_ROWS = 8


@dataclass(frozen=True, eq=False)
class AwaitedOutput:
    """The output of an attention call, until the layer that reads it runs.

    Every `row_step`-th row of that layer is kept. Where the model copies the output first, it is
    recognised `by_value`. Of heads on several processes `output` is the own `share`. `version`
    tells a change in place before it is read.
    """

    output: Tensor
    projections: dict[str, Projection]
    absent: dict[str, str]
    row_step: int
    by_value: bool
    share: HeadShare | None = None
    version: int | None = field(init=False)
    storage: int = field(init=False)  # of the output, which is kept alive here

    def __post_init__(self) -> None:
        object.__setattr__(self, "version", version_of(self.output))
        object.__setattr__(self, "storage", storage_of(self.output))

    def is_read_as(self, read: Tensor, storage: int | None = None) -> bool:
        """True if a layer that reads this tensor reads all heads of the output, side by side.

        `storage` is the tensor's, if that is known.
        """
        output = self.output
        if read.numel() != output.numel() or read.shape[-1] != output.shape[2] * output.shape[3]:
            return False
        if (storage_of(read) if storage is None else storage) == self.storage:
            return read.is_contiguous() and version_of(read) == self.version
        # attention in half precision is read as what it was, in the type of the layers around it
        is_exact = torch.promote_types(read.dtype, output.dtype) == read.dtype
        return self.by_value and is_exact and torch.equal(read, output.flatten(2).to(read.dtype))


@dataclass(frozen=True, eq=False)
class SideBySide:
    """The outputs of several single heads that a layer read side by side, and all as one output.

    `changes` are those that were made to it on its way to the layer.
    """

    parts: tuple[AwaitedOutput, ...]
    whole: AwaitedOutput
    changes: tuple[StageChange, ...] = ()


@dataclass(eq=False)
class ReadOutput:
    """The output of an attention call that was read, and the layers that read it so far."""

    awaited: AwaitedOutput
    layers: list[LinearRun]


@dataclass(frozen=True, eq=False)
class PendingGuess:
    """A guessed rotation, with the projections and reasons to correct if it turns out wrong."""

    guess: RotationGuess
    projections: dict[str, Projection]
    absent: dict[str, str]


@dataclass(frozen=True, eq=False)
class MadeBy:
    """The layer that was found for one of a call's projections, to be checked in the end."""

    name: str
    layer: LinearRun
    projections: dict[str, Projection]
    absent: dict[str, str]

    @property
    def found(self) -> Projection | None:
        """The projection; None if it was taken back, or if a module around it took its place."""
        projection = self.projections.get(self.name)
        is_own = projection is not None and projection.module == self.layer.name
        return projection if is_own else None

    @property
    def was_changed(self) -> bool:
        """True if the projection's output is the layer's own memory and was changed since."""
        if self.layer.has_its_output:
            return False
        return storage_of(self.projections[self.name].output) == self.layer.storage

    def withdraw(self, reason: str) -> None:
        """Take the projection back, with the reason."""
        _withdraw(self.name, reason, self.projections, self.absent)


class LinearWatch:
    """The linear layers of a model as they run: told of them, or by hooks while it watches them."""

    def __init__(self, is_active: Callable[[], bool], plain: Set[str] = frozenset()) -> None:
        self._is_active = is_active
        self._recent: deque[LinearRun] = deque(maxlen=RECENT_LAYERS)
        self._search = ValueSearch()
        self._guesses: list[PendingGuess] = []
        self._awaited: dict[int, AwaitedOutput] = {}
        self._attending: set[str] = set()  # modules in which attention ran
        self.read_together: list[SideBySide] = []
        self._read: ReadOutput | None = None
        self._made: list[MadeBy] = []
        self._copies = Copies()
        self._plain = plain
        self._hooks = Hooks()

    def watch(self, modules: Modules, layers: Mapping[str, nn.Module]) -> None:
        """Take the layers that run from now on."""
        self._plain = {name for name, layer in layers.items() if is_plain(layer)}
        for name, module in layers.items():
            self._hooks.after(module, partial(self._end_layer, name))
        for name in other_projections(modules):
            self._hooks.after(modules[name], partial(self._end_outer, name), with_kwargs=True)
        self._hooks.before(modules[""], self._begin_pass)

    def close(self) -> None:
        """Remove the hooks and drop the layers that were kept."""
        self._hooks.remove()
        self._recent.clear()
        self._awaited.clear()
        self._copies.clear()
        self._read = None

    def _begin_pass(self, _module: nn.Module, _args: object) -> None:
        if self._is_active():
            self.settle()

    def _end_layer(
        self, name: str, module: nn.Module, args: tuple[object, ...], output: object
    ) -> None:
        """Keep a layer that ran."""
        read = args[0] if args else None
        if not isinstance(read, Tensor) or not isinstance(output, Tensor):
            return  # a router, for instance, extends a linear layer and returns more
        if read.ndim != 3 or output.ndim != 3 or not self._is_active():
            return
        memory = memory_of(read)
        if memory == NO_MEMORY:
            return
        self.take(LinearRun(name, module, read, output, memory, is_plain=name in self._plain))

    def take(self, layer: LinearRun) -> None:
        """Keep a layer that ran."""
        self._recent.append(layer)
        if self._awaited or self._read is not None:
            self._match_output(layer)

    def _end_outer(
        self,
        name: str,
        module: nn.Module,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        output: object,
    ) -> None:
        """Take a module that reads one tensor in place of the layers that ran inside it.

        Unless it returned what one of these wrote, or attention ran inside it.
        """
        given = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
        if len(given) != 1 or not isinstance(output, Tensor) or not self._is_active():
            return
        (read,) = given
        is_layer = read.dim() == output.dim() == 3
        if not is_layer or name in self._attending:
            return
        memory = memory_of(read)
        if memory == NO_MEMORY:
            return
        outer = LinearRun(name, module, read, output, memory)
        inner = [run for run in self._recent if run.name.startswith(f"{name}.")]
        if any(_is_returned(run, outer) for run in inner):
            return
        rest = [run for run in self._recent if run not in inner]
        self._recent.clear()
        self._recent.extend([*rest, outer])
        if self._awaited or self._read is not None:
            self._match_output(outer)

    def makers(
        self, q: Tensor, k: Tensor, v: Tensor
    ) -> tuple[dict[str, Projection], dict[str, str]]:
        """The layers that wrote q, k and v, and the reason for each that was not found."""
        tensors = {"q": q, "k": k, "v": v}
        layers: dict[str, Projection] = {}
        absent: dict[str, str] = {}
        for name, tensor in tensors.items():
            layer, starts = self._maker(tensor)
            if layer is not None and starts is not None:
                layers[name] = layer.projection(starts)
                self._made.append(MadeBy(name, layer, layers, absent))
        rest = {name: tensor for name, tensor in tensors.items() if name not in layers}
        guess = None
        if rest:
            usable = [run for run in self._recent if run.is_untouched]
            matches, guess = self._search.makers(usable, rest, q.shape[2])
            for name, match in matches.items():
                layers[name] = match.projection()
                self._made.append(MadeBy(name, match.layer, layers, absent))
        absent |= {name: NOT_A_VIEW for name in rest if name not in layers}
        if "q" in absent:
            absent["x"] = absent["q"]
        if guess is not None:
            self._guesses.append(PendingGuess(guess, layers, absent))
        return layers, absent

    def share(
        self, name: str, earlier: dict[str, Projection], layers: dict[str, Projection]
    ) -> None:
        """Let a call have a layer of an earlier one too, to be taken back with that."""
        layers[name] = earlier[name]
        known = (m for m in self._made if m.projections is earlier and m.name == name)
        made = next(known, None)  # a product with a parameter is proven already
        if made is not None:
            self._made.append(replace(made, projections=layers))

    def own(self, projections: dict[str, Projection]) -> None:
        """Copy what the layers of a call read, and what W_O wrote: the model may change both.

        A tensor that several layers read is copied once.
        """
        for name, layer in projections.items():
            output = layer.output.clone() if name == "out" else layer.output
            projections[name] = layer.with_tensors(self._copies.of(layer.input), output)

    def settle(self) -> None:
        """Take back the guesses of the last forward pass that turned out wrong."""
        disproved = self._search.disproved([pending.guess for pending in self._guesses])
        wrong = {id(guess) for guess in disproved}
        for pending in self._guesses:
            if id(pending.guess) in wrong:
                for name in pending.guess.names:
                    _withdraw(name, NOT_A_VIEW, pending.projections, pending.absent)
        self._guesses.clear()

    def check(self) -> None:
        """Take back the layers whose numbers changed since, or do not follow from their weight.

        Called when the model has run and its hooks are gone.
        """
        for made in self._made:
            self._check(made)
        self._made.clear()

    def check_early(self, projections: dict[str, Projection]) -> bool:
        """Take back those layers of a call whose numbers changed, and forget all of them.

        False, with nothing done, if its output is still awaited, or if a layer has to be called.
        """
        if any(awaited.projections is projections for awaited in self._awaited.values()):
            return False
        made = [one for one in self._made if one.projections is projections]
        if not all(map(self._is_certain, made)):
            return False
        for one in made:
            self._check(one)
        self._made = [one for one in self._made if one.projections is not projections]
        return True

    def _check(self, made: MadeBy) -> None:
        if made.layer.has_its_output and self._is_certain(made):
            return
        projection = made.found
        if projection is None:
            return
        if made.was_changed:
            made.withdraw(CHANGED_LATER)
        elif not self._is_certain(made):
            self._hold_to_its_rows(made, projection)

    def _is_certain(self, made: MadeBy) -> bool:
        """True for a plain layer of which changes in place are counted."""
        return made.layer.name in self._plain and made.layer.output_version is not None

    def _hold_to_its_rows(self, made: MadeBy, projection: Projection) -> None:
        """Keep a layer as it shows itself, or as what calling it gives; else withdraw it."""
        if isinstance(projection.layer, WrittenLayer) and leads_to_output(projection):
            return
        read, wrote = projection.input.flatten(0, -2), projection.output.flatten(0, -2)
        called = CalledLayer.as_it_runs(made.layer.module, read)
        reason = called.why_not_affine(read, wrote)
        if reason is None:
            made.projections[made.name] = replace(projection, layer=called)
        else:
            made.withdraw(reason)

    def await_output(self, awaited: AwaitedOutput, module: str) -> None:
        """Add the layer that reads an output to its projections, as "out", when that layer runs.

        `module` is the dotted name of the one that attends.
        """
        awaited.absent["projected"] = NOT_CONSUMED
        self._awaited[awaited.storage] = awaited
        self._attending |= {module, *paths_above(module)}
        self._read = None

    def forget(self, projections: dict[str, Projection]) -> None:
        """Forget all that is awaited or to be checked for a call that is taken back."""
        kept = self._awaited.items()
        self._awaited = {n: one for n, one in kept if one.projections is not projections}
        self._made = [made for made in self._made if made.projections is not projections]
        self._guesses = [one for one in self._guesses if one.projections is not projections]
        if self._read is not None and self._read.awaited.projections is projections:
            self._read = None

    def exchange(
        self, read: Tensor, output: Tensor, changes: tuple[StageChange, ...]
    ) -> AwaitedOutput | None:
        """The awaited output that a layer is to read, with other numbers; None if none is."""
        for storage, awaited in self._awaited.items():
            if awaited.is_read_as(read):
                del self._awaited[storage]
                changed = replace(awaited, output=output)
                self._awaited[changed.storage] = changed
                return changed
        whole = self._joined_into(read)
        if whole is not None:
            together = self.read_together[-1]
            whole = replace(whole, output=output)
            self.read_together[-1] = replace(together, whole=whole, changes=changes)
            self._awaited[whole.storage] = whole
        return whole

    def _match_output(self, layer: LinearRun) -> None:
        read, storage = layer.input, layer.read_storage
        if self._read is None or not self._read.awaited.is_read_as(read, storage):
            if not self._awaited:
                return
            awaited = self._awaited.pop(storage, None)
            awaited = awaited or self._copied_into(layer) or self._joined_into(read)
            if awaited is None or not awaited.is_read_as(read, storage):
                return
            self._read = ReadOutput(awaited, [])
        inside = f"{layer.name}."
        others = [run for run in self._read.layers if not run.name.startswith(inside)]
        self._read.layers[:] = [*others, layer]
        self._name_readers(self._read)

    def _name_readers(self, read: ReadOutput) -> None:
        """Take the one layer that reads an output as W_O; where there are several, none is."""
        awaited, layers = read.awaited, read.layers
        if awaited.projections.pop("out", None) is not None:
            self._made = [
                m for m in self._made if m.projections is not awaited.projections or m.name != "out"
            ]
        if len(layers) > 1:
            names = " and ".join(run.name.rpartition(".")[2] for run in layers)
            awaited.absent["projected"] = SEVERAL_READERS.format(names=names)
            return
        (layer,), output = layers, awaited.output
        starts = tuple(range(0, output.shape[2] * output.shape[3], output.shape[3]))
        step = awaited.row_step
        if step > 1:
            projection = layer.projection(starts).thinned(step)
        else:  # what it wrote is the model's, which may add to it in place
            projection = layer.projection(starts, output=layer.output.clone())
        if awaited.share is not None:
            projection = awaited.share.reader(projection, step)
        awaited.projections["out"] = projection
        awaited.absent.pop("projected", None)
        self._made.append(MadeBy("out", layer, awaited.projections, awaited.absent))

    def _copied_into(self, layer: LinearRun) -> AwaitedOutput | None:
        """The awaited output of which the layer read a copy; it is awaited no longer."""
        for storage, awaited in self._awaited.items():
            if awaited.by_value and awaited.is_read_as(layer.input):
                return self._awaited.pop(storage)
        return None

    def _joined_into(self, read: Tensor) -> AwaitedOutput | None:
        """The last outputs of single heads as one, if a layer reads them side by side."""
        last = next(reversed(self._awaited.values()), None)
        count, rest = (0, 1) if last is None else divmod(read.shape[-1], last.output.shape[3])
        parts = list(self._awaited.values())[-count:] if count > 1 and not rest else []
        is_single = all(part.by_value and part.output.shape[2] == 1 for part in parts)
        if len(parts) < max(count, 2) or not is_single:
            return None
        if len({part.output.shape for part in parts}) > 1:
            return None
        output = torch.cat([part.output for part in parts], dim=2)
        whole = AwaitedOutput(output, {}, {}, parts[0].row_step, by_value=True)
        if not whole.is_read_as(read):
            return None
        for part in parts:
            del self._awaited[part.storage]
        self.read_together.append(SideBySide(tuple(parts), whole))
        return whole

    def _maker(self, tensor: Tensor) -> tuple[LinearRun | None, tuple[int, ...] | None]:
        """The layer of whose output a tensor is a view, with the first column of each head.

        No columns if heads are not told by the view, or if the output was changed since.
        """
        storage = storage_of(tensor)
        for layer in reversed(self._recent):
            if layer.storage == storage:
                starts = _head_starts(tensor, layer.output) if layer.is_untouched else None
                return layer, starts
        return None, None


def _withdraw(
    name: str, reason: str, projections: dict[str, Projection], absent: dict[str, str]
) -> None:
    """Take a projection back, with the reason for the stages that it leads to."""
    del projections[name]
    absent[STAGE_OF[name]] = reason
    if name == "q":
        absent["x"] = reason


def leads_to_output(layer: Projection) -> bool:
    """True if some rows that a layer wrote are input·W + b."""
    x, wrote = layer.input.flatten(0, -2), layer.output.flatten(0, -2)
    some = slice(None, None, math.ceil(len(x) / CHECKED_ROWS))
    error = max_difference(apply_linear(x[some].float(), layer), wrote[some])
    return error <= layer.tolerance()


def _is_returned(inner: LinearRun, outer: LinearRun) -> bool:
    """True if a module returned what a layer inside it wrote, as it was."""
    return inner.output_version == outer.output_version and _is_same_tensor(
        inner.output, outer.output
    )


def _is_same_tensor(left: Tensor, right: Tensor) -> bool:
    """True for two tensors with the same numbers in the same memory.

    Never where changes in place are not counted.
    """
    version = version_of(left)
    return (
        left.shape == right.shape
        and version is not None
        and version == version_of(right)
        and left.storage_offset() == right.storage_offset()
        and left.stride() == right.stride()
        and storage_of(left) == storage_of(right)
    )


def layers_in_attention(modules: Modules) -> dict[str, nn.Module]:
    """The linear layers inside modules named after attention; all of them if there are none.

    To watch the others too would keep their large outputs alive for nothing.
    """
    return {name: modules[name] for name in modules.fact(_linear_in_attention)}


def _linear_in_attention(modules: Modules) -> list[str]:
    linear = [name for name, module in modules.items() if isinstance(module, nn.Linear | Conv1D)]
    within = _paths_within(modules.fact(named_attention))
    return [name for name in linear if name.startswith(within)] or linear


def other_projections(modules: Modules) -> list[str]:
    """The names of what may be projections beside linear layers: around them, or of another class.

    None that is named after attention, or around such a module.
    """
    around, others = modules.fact(_beside_linear)
    return sorted(around | {name for name in others if _may_multiply(modules[name])})


def _beside_linear(modules: Modules) -> tuple[set[str], set[str]]:
    """The names of the modules around linear layers, and of those that are not torch's."""
    layers, attention = modules.fact(_linear_in_attention), modules.fact(named_attention)
    outside = {"", *attention}
    for name in attention:
        outside |= set(paths_above(name))
    around = {path for name in layers for path in paths_above(name)}
    within = _paths_within(attention) or ("",)
    others = {
        name
        for name, module in modules.items()
        if name.startswith(within) and not type(module).__module__.startswith("torch.nn.modules.")
    }
    return around - outside, others - outside - {*layers}


def _may_multiply(module: nn.Module) -> bool:
    """True for a module with tensors that may be a matrix, however packed."""
    tensors = (*module._parameters.values(), *module._buffers.values())
    has_matrix = any(tensor is not None and tensor.dim() > 1 for tensor in tensors)
    return has_matrix or (hasattr(module, "in_features") and hasattr(module, "out_features"))


def _paths_within(names: list[str]) -> tuple[str, ...]:
    """The beginnings of the dotted names inside some modules; that of the root is empty."""
    return tuple(f"{name}." if name else "" for name in names)


def _head_starts(tensor: Tensor, output: Tensor) -> tuple[int, ...] | None:
    """The first column of each head of `tensor` [batch, head, token, d_head] within `output`.

    None unless `tensor` is a plain view: row t of a head is row t of `output`, columns adjacent.
    """
    n_batch, n_heads, n_token, width = tensor.shape
    d_out = output.shape[-1]
    of_batch, step, of_token, of_column = tensor.stride()
    is_aligned = (
        of_column == 1
        and output.shape[:2] == (n_batch, n_token)
        and (n_token == 1 or of_token == d_out)
        and (n_batch == 1 or of_batch == n_token * d_out)
        and output.is_contiguous()
    )
    if not is_aligned:
        return None
    first = int(tensor.storage_offset() - output.storage_offset())
    if not 0 <= first <= d_out - (n_heads - 1) * step - width:
        return None
    last = first + (n_heads - 1) * step
    return tuple(range(first, last + 1, step)) if step else (first,) * n_heads
