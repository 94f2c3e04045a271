"""Finds W_Q, W_K, W_V and W_O beside an attention call by the memory that they share.

In most models q is a view of the storage that W_Q's linear layer wrote, and W_O's layer reads the
storage that the attention function returned. Names differ between architectures, shared memory does
not, and the strides of the view tell which columns belong to which head, also if one fused layer
makes q, k and v (GPT-2). If the model works on q after the layer (a rotary embedding, a constant
factor, a key cache), no memory is shared: `projections_by_value` compares numbers, and if these do
not agree either, the projection is absent, with that reason.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from attnviz.attention.projection import Projection
from attnviz.capture.locate.layers import LinearRun, has_memory, storage_of
from attnviz.capture.locate.own_code import IS_ATTENTION
from attnviz.capture.locate.projections_by_value import RotationGuess, ValueSearch

# linear layers that ran just before an attention call; more would keep dead tensors alive
RECENT_LAYERS = 8
NOT_A_VIEW = "the model changes this tensor after its linear layer"
NOT_CONSUMED = "no linear layer reads the output of the attention as it is"


@dataclass(frozen=True, eq=False)
class AwaitedOutput:
    """The output of an attention call, until the layer that reads it runs.

    Every `row_step`-th row of that layer is kept. Where the model copies the output first, it is
    recognised `by_value`.
    """

    output: Tensor
    projections: dict[str, Projection]
    absent: dict[str, str]
    row_step: int
    by_value: bool

    def is_read_as(self, read: Tensor) -> bool:
        """True if a layer that reads this tensor reads all heads of the output, side by side."""
        output = self.output
        if read.numel() != output.numel() or read.shape[-1] != output.shape[2] * output.shape[3]:
            return False
        if storage_of(read) == storage_of(output):
            return read.is_contiguous()
        return self.by_value and torch.equal(read, output.flatten(2))


@dataclass(frozen=True, eq=False)
class PendingGuess:
    """A guessed rotation, with the projections and reasons to correct if it turns out wrong."""

    guess: RotationGuess
    projections: dict[str, Projection]
    absent: dict[str, str]


class LinearWatch:
    """Forward hooks on a model's linear layers, for as long as the model is recorded."""

    def __init__(self, modules: Mapping[str, nn.Module], is_active: Callable[[], bool]) -> None:
        self._is_active = is_active
        self._recent: deque[LinearRun] = deque(maxlen=RECENT_LAYERS)
        self._search = ValueSearch()
        self._guesses: list[PendingGuess] = []
        self._awaited: dict[int, AwaitedOutput] = {}
        self._handles = [
            module.register_forward_hook(self._hook(name))
            for name, module in _layers_in_attention(modules).items()
        ]
        self._handles.append(modules[""].register_forward_pre_hook(self._begin_pass))

    def close(self) -> None:
        """Remove the hooks and drop the layers that were kept."""
        for handle in self._handles:
            handle.remove()
        self._recent.clear()
        self._awaited.clear()

    def _begin_pass(self, _module: nn.Module, _args: object) -> None:
        if self._is_active():
            self.settle()

    def _hook(self, name: str) -> Callable[[nn.Module, tuple[object, ...], object], None]:
        def keep(module: nn.Module, args: tuple[object, ...], output: object) -> None:
            read = args[0] if args else None
            if not isinstance(read, Tensor) or not isinstance(output, Tensor):
                return  # a router, for instance, extends a linear layer and returns more
            if not self._is_active() or read.dim() != 3 or not has_memory(read):
                return
            layer = LinearRun(name, module, read.detach(), output.detach())
            self._recent.append(layer)
            if self._awaited:
                self._match_output(layer)

        return keep

    def makers(
        self, q: Tensor, k: Tensor, v: Tensor
    ) -> tuple[dict[str, Projection], dict[str, str]]:
        """The layers that wrote q, k and v, and the reason for each that was not found."""
        tensors = {"q": q, "k": k, "v": v}
        views = {name: self._maker(tensor) for name, tensor in tensors.items()}
        layers = {name: view for name, view in views.items() if view is not None}
        rest = {name: tensor for name, tensor in tensors.items() if name not in layers}
        guess = None
        if rest:
            matches, guess = self._search.makers(self._recent, rest, q.shape[2])
            layers |= {name: match.projection() for name, match in matches.items()}
        absent = {name: NOT_A_VIEW for name in tensors if name not in layers}
        if "q" in absent:
            absent["x"] = absent["q"]
        if guess is not None:
            self._guesses.append(PendingGuess(guess, layers, absent))
        return layers, absent

    def settle(self) -> None:
        """Take back the guesses of the last forward pass that turned out wrong."""
        disproved = self._search.disproved([pending.guess for pending in self._guesses])
        wrong = {id(guess) for guess in disproved}
        for pending in self._guesses:
            if id(pending.guess) in wrong:
                for name in pending.guess.names:
                    del pending.projections[name]
                    pending.absent[name] = NOT_A_VIEW
                    if name == "q":
                        pending.absent["x"] = NOT_A_VIEW
        self._guesses.clear()

    def await_output(self, awaited: AwaitedOutput) -> None:
        """Add the layer that reads an output to its projections, as "out", when that layer runs."""
        awaited.absent["projected"] = NOT_CONSUMED
        self._awaited[storage_of(awaited.output)] = awaited

    def exchange(self, read: Tensor, output: Tensor) -> AwaitedOutput | None:
        """The awaited output that a layer is to read, with other numbers; None if none is."""
        for storage, awaited in self._awaited.items():
            if awaited.is_read_as(read):
                del self._awaited[storage]
                changed = replace(awaited, output=output)
                self._awaited[storage_of(output)] = changed
                return changed
        return None

    def _match_output(self, layer: LinearRun) -> None:
        awaited = self._awaited.pop(storage_of(layer.input), None) or self._copied_into(layer)
        if awaited is None or not awaited.is_read_as(layer.input):
            return
        n_column, d_head = layer.input.shape[-1], awaited.output.shape[3]
        projection = layer.projection(tuple(range(0, n_column, d_head)))
        step = awaited.row_step
        awaited.projections["out"] = projection.thinned(step) if step > 1 else projection
        del awaited.absent["projected"]

    def _copied_into(self, layer: LinearRun) -> AwaitedOutput | None:
        """The awaited output of which the layer read a copy; it is awaited no longer."""
        for storage, awaited in self._awaited.items():
            if awaited.by_value and awaited.is_read_as(layer.input):
                return self._awaited.pop(storage)
        return None

    def _maker(self, tensor: Tensor) -> Projection | None:
        """The layer of whose output a tensor is a view."""
        storage = storage_of(tensor)
        for layer in reversed(self._recent):
            if layer.storage == storage:
                starts = _head_starts(tensor, layer.output)
                return layer.projection(starts) if starts else None
        return None


def _layers_in_attention(modules: Mapping[str, nn.Module]) -> dict[str, nn.Module]:
    """The linear layers inside modules named after attention; all of them if there are none.

    To watch the others too would keep their large outputs alive for nothing.
    """
    linear: dict[str, nn.Module] = {
        name: module for name, module in modules.items() if isinstance(module, nn.Linear | Conv1D)
    }
    attention = tuple(
        f"{name}." for name, module in modules.items() if IS_ATTENTION.search(type(module).__name__)
    )
    inside = {name: module for name, module in linear.items() if name.startswith(attention)}
    return inside or linear


def _head_starts(tensor: Tensor, output: Tensor) -> tuple[int, ...] | None:
    """The first column of each head of `tensor` [batch, head, token, d_head] within `output`.

    None unless `tensor` is a plain view: row t of a head is row t of `output`, columns adjacent.
    """
    n_batch, n_heads, n_token, width = tensor.shape
    d_out = output.shape[-1]
    is_aligned = (
        output.is_contiguous()
        and output.shape[:2] == (n_batch, n_token)
        and tensor.stride(3) == 1
        and (n_token == 1 or tensor.stride(2) == d_out)
        and (n_batch == 1 or tensor.stride(0) == n_token * d_out)
    )
    first = int(tensor.storage_offset() - output.storage_offset())
    step = int(tensor.stride(1))
    fits = 0 <= first and first + (n_heads - 1) * step + width <= d_out
    return tuple(first + head * step for head in range(n_heads)) if is_aligned and fits else None
