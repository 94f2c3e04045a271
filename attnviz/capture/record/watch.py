"""Watches what a model computes, below Python, for attention in code of the model's own.

A `TorchDispatchMode` sees every operation, so it does not matter how or where attention is written;
hooks tell which modules run. In: a model's modules. Out: a report of each attention as the
`ThreadTrace` puts it together; torch's own `nn.MultiheadAttention` is opened by `multihead` when it
returns.
Operations inside attnviz's own attention function do not count, nor what other threads run, nor
what a checkpoint computes again for the gradients.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stage_changes import StageChange
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.locate.own_code import is_named_attention
from attnviz.capture.record import fused_kernels, multihead
from attnviz.capture.record.interface import inside, reading
from attnviz.capture.record.operations import PRODUCTS, LayerRun
from attnviz.capture.record.seen_attention import SeenAttention
from attnviz.capture.record.trace import ThreadTrace

Report = Callable[[SeenAttention], None]
Refuse = Callable[[nn.Module, str], None]
TellProduct = Callable[[LayerRun], None]


def _ignore(*_told: object) -> None:
    """Refuse nothing, and take no product."""


@dataclass(eq=False)
class _TorchsOwn:
    """An `nn.MultiheadAttention` that is running: its arguments, and the attention seen in it.

    `changes` are those that were made to it, if any.
    """

    module: nn.Module
    arguments: multihead.Arguments
    attention: SeenAttention | None = None
    changes: tuple[StageChange, ...] = ()


class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Calls `report` with each attention of a model, in the order of execution.

    `refuse` is called with the module and the reason for each that cannot be recorded, and
    `tell_product` with each product with parameters. `ran` has
    the modules named after attention that ran, with those around them; `chained`, once it is
    closed, those in which products were multiplied without a softmax, with the reason.
    """

    supports_higher_order_operators = True

    def __init__(
        self,
        modules: Mapping[str, nn.Module],
        report: Report,
        refuse: Refuse = _ignore,
        tell_product: TellProduct = _ignore,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._report_now, self._refuse = report, refuse
        self._names = {id(module): name for name, module in modules.items()}
        self._running: list[nn.Module] = []
        self._stack: tuple[nn.Module, ...] = ()
        self._torchs_own: list[_TorchsOwn] = []
        self.ran: dict[int, tuple[nn.Module, ...]] = {}
        self.chained: dict[int, tuple[nn.Module, str]] = {}
        self._thread = threading.get_ident()  # hooks are called for the runs of others too
        weights = (
            tensor
            for module in modules.values()
            for tensor in (*module._parameters.values(), *module._buffers.values())
            if tensor is not None
        )
        self._trace = ThreadTrace(weights, self._report, refuse, tell_product)
        self._handles = []
        for module in modules.values():
            self._handles.append(
                module.register_forward_pre_hook(self._enter_module, with_kwargs=True)
            )
            self._handles.append(module.register_forward_hook(self._leave_module, always_call=True))

    def close(self) -> None:
        """Remove the hooks, and let go of all tensors: the trace reports to this object."""
        for handle in self._handles:
            handle.remove()
        chained = self._trace.chained.values()
        self.chained = {id(stack[-1]): (stack[-1], reason) for stack, reason in chained}
        self._trace = ThreadTrace((), self._report_now, self._refuse, _ignore)
        self._torchs_own.clear()

    def finish(self) -> None:
        """Report what still waits."""
        self._trace.finish()

    def decide_by(self, read: Tensor) -> None:
        """Report the attention that waits for a layer to show its heads, if that will `read` it."""
        self._trace.decide_by(read)

    def exchange(self, module: nn.Module, mixed: Tensor, changes: tuple[StageChange, ...]) -> None:
        """Take torch's own module, which returns now, with other outputs of its heads."""
        for own in self._torchs_own:
            if own.module is module and own.attention is not None:
                own.attention = replace(own.attention, output=mixed)
                own.changes = changes

    def _is_elsewhere(self) -> bool:
        """True in another thread, and while gradients are computed."""
        return threading.get_ident() != self._thread or torch._C._current_graph_task_id() != -1

    def _enter_module(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        if self._is_elsewhere():
            return
        self._running.append(module)
        self._stack = tuple(self._running)
        if is_named_attention(module):
            self.ran.setdefault(id(module), self._stack)
        arguments = multihead.arguments(module, args, kwargs)
        if arguments is not None:
            self._torchs_own.append(_TorchsOwn(module, arguments))
        if isinstance(module, nn.RNNBase) and args:
            self._trace.begin_recurrent(args[0])

    def _leave_module(self, module: nn.Module, args: tuple[Any, ...], output: object) -> None:
        if self._is_elsewhere() or module not in self._running:
            return
        while self._running.pop() is not module:
            pass  # a module inside it ended by an error, before its own hooks
        self._stack = tuple(self._running)
        if self._torchs_own and self._torchs_own[-1].module is module:
            self._open(self._torchs_own.pop(), output)
        if isinstance(module, nn.RNNBase) and args and isinstance(output, tuple):
            self._trace.end_recurrent(module, args[0], output)
        self._trace.leave(module)
        if not self._running:
            self._trace.finish()

    def _report(self, attention: SeenAttention) -> None:
        """Report an attention, once the module returns if it is torch's own."""
        own = self._torchs_own[-1] if self._torchs_own else None
        if own is not None and own.module is attention.module:
            own.attention = attention
        else:
            self._report_now(attention)

    def _open(self, own: _TorchsOwn, output: object) -> None:
        """Report the attention of torch's own module with all that it shows when it returns."""
        attention = own.attention
        if attention is None:
            return
        token = inside.set(True)  # what is computed here is not the model's
        try:
            opened = self._opened(attention, own.arguments, output)
            inputs = replace(opened.inputs, changes=own.changes)
            self._report_now(replace(opened, inputs=inputs))
        finally:
            inside.reset(token)

    def _opened(
        self, attention: SeenAttention, arguments: multihead.Arguments, output: object
    ) -> SeenAttention:
        module, inputs = attention.module, attention.inputs
        assert isinstance(module, nn.MultiheadAttention)
        if isinstance(inputs, StoredWeights):
            inputs = multihead.explained(inputs, attention.product)
        attention = replace(attention, inputs=inputs, kind=arguments.kind)
        if not isinstance(inputs, AttentionInputs):
            return attention
        projections, absent = multihead.projections(
            module, self._names[id(module)], arguments, inputs, attention.output, output
        )
        return replace(attention, projections=projections, absent=absent)

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        is_ours = inside.get()
        if isinstance(func, torch._ops.HigherOrderOperator):
            out = func(*args, **kwargs)
            if func._name == fused_kernels.FLEX and self._stack and not is_ours:
                self._add_flex(args, kwargs, out)
            return out
        if not is_ours and torch.is_inference_mode_enabled() and func._can_decompose():
            with self:  # in inference mode composite operations arrive whole
                out = func.decompose(*args, **kwargs)
            if out is not NotImplemented:
                return out
        if reading.get() is not None and func in PRODUCTS and not is_ours:
            args = self._with_changed_reading(args)
        out = func(*args, **kwargs)
        if is_ours or not self._stack or torch._C._current_graph_task_id() != -1:
            self._trace.forget(out)
        else:
            in_torchs_own = bool(self._torchs_own)
            self._trace.add(func, args, kwargs, out, self._stack, in_torchs_own=in_torchs_own)
        return out

    def _with_changed_reading(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The operands of a product: where heads are changed, a W_O of parameters reads them."""
        change, (*added, left, right) = reading.get(), args
        if change is None or not self._trace.is_of_parameters(right):
            return args
        changed = change(left)
        return args if changed is None else (*added, changed, right)

    def _add_flex(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], out: Any) -> None:
        """Take flex_attention as a whole attention, or refuse what changes its scores."""
        output: Tensor = out[0] if isinstance(out, tuple) else out
        token = inside.set(True)
        try:
            inputs = fused_kernels.of_flex(args, kwargs)
        finally:
            inside.reset(token)
        if inputs is None:
            self._refuse(self._stack[-1], fused_kernels.UNKNOWN_FLEX)
        else:
            mixed = output.detach().clone().transpose(1, 2)
            self._report(SeenAttention(self._stack[-1], inputs, mixed))
