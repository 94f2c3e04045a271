"""Watches modules that compute attention with their own code, below Python.

A `TorchDispatchMode` sees every operation, so it does not matter how a module writes its attention.
In: the modules to watch. Out: a report of each attention as its `ModuleTrace` puts it together;
torch's own `nn.MultiheadAttention` is opened by `multihead` when it returns. Operations count only
inside the watched modules, and not inside attnviz's own attention function.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.record import multihead
from attnviz.capture.record.interface import inside
from attnviz.capture.record.trace import MatrixProduct, ModuleTrace, Scaling, SeenAttention

aten = torch.ops.aten
SOFTMAX = {aten._softmax.default, aten._safe_softmax.default}
PRODUCTS = {aten.bmm.default, aten.baddbmm.default}
FUSED = {
    aten._scaled_dot_product_flash_attention_for_cpu.default,
    aten._scaled_dot_product_flash_attention.default,
    aten._scaled_dot_product_efficient_attention.default,
    aten._scaled_dot_product_attention_math.default,
}
# how torch's own module scales q before the product
SCALE = aten.mul.Tensor


@dataclass(frozen=True, eq=False)
class _RunningModule:
    """A watched module that is running; its arguments if it is torch's own."""

    module: nn.Module
    arguments: multihead.Arguments | None


class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Calls `report` with each attention of the watched modules, in the order of execution."""

    def __init__(
        self, modules: Mapping[str, nn.Module], report: Callable[[SeenAttention], None]
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._report = report
        self._names = {id(module): name for name, module in modules.items()}
        self._running: list[_RunningModule] = []
        self._trace: ModuleTrace | None = None  # of the innermost running module
        self._thread = threading.get_ident()  # hooks are called for the runs of others too
        self._handles = []
        for module in modules.values():
            self._handles.append(
                module.register_forward_pre_hook(self._enter_module, with_kwargs=True)
            )
            self._handles.append(module.register_forward_hook(self._leave_module, always_call=True))

    def close(self) -> None:
        """Remove the hooks."""
        for handle in self._handles:
            handle.remove()

    def _enter_module(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        if threading.get_ident() != self._thread:
            return
        if self._trace is not None:
            self._trace.flush()
        self._running.append(_RunningModule(module, multihead.arguments(module, args, kwargs)))
        self._trace = self._new_trace()

    def _leave_module(self, _module: nn.Module, _args: object, output: object) -> None:
        if threading.get_ident() != self._thread:
            return
        running, trace = self._running.pop(), self._trace
        self._trace = self._new_trace()
        if trace is None:
            return
        if trace.attention is not None and running.arguments is not None:
            token = inside.set(True)  # what is computed here is not the model's
            try:
                trace.attention = self._opened(trace.attention, running.arguments, output)
            finally:
                inside.reset(token)
        trace.flush()

    def _new_trace(self) -> ModuleTrace | None:
        """An empty trace for the innermost running module; None if none is running."""
        if not self._running:
            return None
        running = self._running[-1]
        is_torchs_own = running.arguments is not None
        return ModuleTrace(running.module, self._report, opens_late=is_torchs_own)

    def _opened(
        self, attention: SeenAttention, arguments: multihead.Arguments, output: object
    ) -> SeenAttention:
        """The attention of torch's own module with all that it shows once it has returned."""
        module, inputs = attention.module, attention.inputs
        mixed = attention.output
        if mixed is None or not isinstance(module, nn.MultiheadAttention):
            return attention
        if isinstance(inputs, StoredWeights):
            inputs = multihead.explained(inputs, attention.product)
        attention = replace(attention, inputs=inputs, kind=arguments.kind)
        if not isinstance(inputs, AttentionInputs):
            return attention
        projections, absent = multihead.projections(
            module, self._names[id(module)], arguments, inputs, mixed, output
        )
        return replace(attention, projections=projections, absent=absent)

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        if self._trace is not None and not inside.get():
            _add(self._trace, func, args, kwargs or {}, out)
        return out


def _add(
    trace: ModuleTrace, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any
) -> None:
    """Add an operation to a trace, if it is one that attention consists of."""
    if func in FUSED:
        names = [argument.name for argument in func._schema.arguments]
        trace.add_fused(dict(zip(names, args, strict=False)) | kwargs, out)
    elif func in SOFTMAX:
        trace.add_softmax(args[0], args[1], out)
    elif func in PRODUCTS:
        added = args[0].detach() if len(args) > 2 else None
        left, right = args[-2].detach(), args[-1].detach()
        trace.add_product(MatrixProduct(left, right, out.detach(), added))
    elif func is SCALE and trace.opens_late:
        trace.add_scaling(Scaling(args[0].detach(), out.detach()))
