"""The attention that a model's own code has just computed, for changes before the heads' outputs.

In: a model's modules and the names of those that are to be changed. Out: q, k, v, scaling, mask and
bias of the call whose outputs W_O is about to read. They are the recorder's: scaling · q·kᵀ + bias
is the score that the model's own softmax read, entry by entry. Where that does not hold, or W_O
reads something else, the call is refused. torch's own `nn.MultiheadAttention` does not run its W_O
as a layer: it is given back when the module returns, with what it would have made of other outputs.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stage_changes import StageChange
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.changed.changed_output import applied, no_gradient, outputs_changed
from attnviz.capture.locate.modules import Modules
from attnviz.capture.locate.own_code import may_have_own_code
from attnviz.capture.record.fast_path import fast_path
from attnviz.capture.record.head_lists import inputs_together
from attnviz.capture.record.interface import active, inside
from attnviz.capture.record.seen_attention import SeenAttention
from attnviz.capture.record.switch import eagerly
from attnviz.capture.record.watch import Watch

# the changes of a place, told how many queries and keys its call has
Bound = Callable[[int, int], tuple[StageChange, ...]]


class SeenCalls:
    """The newest call of each of some modules, or its heads, as they were seen while they ran."""

    def __init__(self, modules: Mapping[str, nn.Module], wanted: Collection[str]) -> None:
        self._names = {id(module): name for name, module in modules.items()}
        self._wanted = wanted
        self._lists = {n for n in wanted if isinstance(modules.get(n), nn.ModuleList)}
        self._newest: dict[str, list[SeenAttention]] = {}  # heads of a loop, else one
        self.watch = Watch(modules, self._take)

    def close(self) -> None:
        """Take the hooks off the model, and let go of all tensors."""
        self.watch.close()
        self._newest.clear()

    def _take(self, seen: SeenAttention) -> None:
        name = self._names.get(id(seen.module)) or type(seen.module).__name__
        if name in self._wanted or name.rpartition(".")[0] in self._lists:
            heads = self._newest.get(name, []) if seen.is_next else []
            self._newest[name] = [*heads, seen]

    def _newest_of(self, module: str) -> tuple[AttentionInputs, Tensor] | None:
        """The inputs and the output of the newest call of a module, or of a list of heads."""
        is_list = module in self._lists
        names = [n for n in self._newest if (n.rpartition(".")[0] if is_list else n) == module]
        heads = [head for name in names for head in self._newest.pop(name)]
        inputs = inputs_together([head.inputs for head in heads]) if heads else None
        if not isinstance(inputs, AttentionInputs):
            return None
        return inputs, torch.cat([head.output for head in heads], dim=2)

    def read(self, module: str, layer: nn.Module, read: Tensor, bound: Bound) -> Tensor | None:
        """The input of W_O, `layer`, in place of `read`; None for an unknown call."""
        token = inside.set(True)
        try:
            self.watch.decide_by(read)
            seen = self._newest_of(module)
            if seen is None or not torch.equal(seen[1].flatten(2), read.detach()):
                return None
            inputs, output = seen[0], read.reshape(seen[1].shape)
            changes = bound(inputs.n_query, inputs.n_key)
            return _told(layer, read, applied(replace(inputs, changes=changes), output), changes)
        finally:
            inside.reset(token)

    def read_by_product(
        self, module: str, read: Tensor, bind: Callable[[], tuple[Bound, bool] | None]
    ) -> Tensor | None:
        """The tensor that a product with a parameter reads in place of `read`; None if that stays.

        If `read` is the outputs of the module's newest call, all heads side by side, `bind` gives
        its changes, and whether these are of outputs only, or None. Raises `UnsupportedAttention`
        where gradients are kept.
        """
        token = inside.set(True)
        try:
            self.watch.decide_by(read)
            heads = self._newest.get(module)
            if not heads:
                return None
            output = torch.cat([head.output for head in heads], dim=2)
            rows = output.flatten(2).flatten(0, 1)
            if rows.numel() != read.numel() or not torch.equal(rows, read.reshape(rows.shape)):
                return None
            del self._newest[module]
            bound = bind()
            if bound is None:
                return None
            if torch.is_grad_enabled():
                raise no_gradient()
            changes = bound[0](heads[0].inputs.n_query, heads[0].inputs.n_key)
            inputs = None if bound[1] else inputs_together([head.inputs for head in heads])
            if isinstance(inputs, AttentionInputs):
                outputs = applied(replace(inputs, changes=changes), output)
            elif bound[1]:
                outputs = outputs_changed(changes, output)
            else:
                return None
            whole = read.reshape(*output.shape[:2], -1)
            return _told(heads[0].module, whole, outputs, changes).reshape(read.shape)
        finally:
            inside.reset(token)

    def returned(
        self,
        name: str,
        module: nn.MultiheadAttention,
        returned: Tensor,
        bound: Bound,
        only_outputs: bool,
    ) -> Tensor | None:
        """The result of torch's own module in place of `returned`; None for an unknown call.

        Raises `UnsupportedAttention` where gradients are kept.
        """
        *_, seen = self._newest.pop(name, [None])
        if seen is None or not (only_outputs or isinstance(seen.inputs, AttentionInputs)):
            return None
        if returned.requires_grad and torch.is_grad_enabled():
            raise no_gradient()
        token = inside.set(True)
        try:
            changes = bound(seen.inputs.n_query, seen.inputs.n_key)
            if only_outputs or isinstance(seen.inputs, StoredWeights):
                outputs = outputs_changed(changes, seen.output)
            else:
                outputs = applied(replace(seen.inputs, changes=changes), seen.output)
            sink = active.get()
            if sink is not None and sink.records(module):
                sink.exchange_returned(module, outputs.detach(), changes)
            return _made_of(module, outputs, returned)
        finally:
            inside.reset(token)


def outputs_read(layer: nn.Module, read: Tensor, n_heads: int, bound: Bound) -> Tensor:
    """The input of W_O, the `layer`, in place of `read`, where only outputs are changed."""
    token = inside.set(True)
    try:
        output = read.reshape(*read.shape[:2], n_heads, -1)
        changes = bound(output.shape[1], output.shape[1])
        return _told(layer, read, outputs_changed(changes, output), changes)
    finally:
        inside.reset(token)


def _told(
    layer: nn.Module, read: Tensor, changed: Tensor, changes: tuple[StageChange, ...]
) -> Tensor:
    """The changed outputs of all heads side by side; the model's recorder is told of them."""
    sink = active.get()
    if sink is not None and sink.records(layer):
        sink.exchange(read, changed.detach(), changes)
    return changed.flatten(2)


def _made_of(module: nn.MultiheadAttention, outputs: Tensor, returned: Tensor) -> Tensor:
    """The result of W_O of torch's own module for its heads' outputs [batch, query, head, d].

    Its axes are those of what the module `returned`.
    """
    result = functional.linear(outputs.flatten(2), module.out_proj.weight, module.out_proj.bias)
    if returned.dim() == 2:
        return result[0]
    return result if module.batch_first else result.transpose(0, 1)


@contextmanager
def own_code_seen(modules: Modules, wanted: Collection[str]) -> Iterator[SeenCalls | None]:
    """While the block runs, what these modules compute is seen; None if no code of its own may."""
    if not wanted or not modules.fact(may_have_own_code):
        yield None
        return
    with ExitStack() as stack:
        stack.enter_context(eagerly())
        stack.enter_context(fast_path.held())
        calls = SeenCalls(modules, wanted)
        stack.callback(calls.close)
        stack.enter_context(calls.watch)
        yield calls
