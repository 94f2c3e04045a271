"""Watch the softmax of modules that compute attention with their own code.

A `TorchDispatchMode` sees every operation below Python, so it does not matter how a module spells
its attention: torch's fused kernels are seen with q, k, v and mask, and become `AttentionInputs`;
a softmax is seen with its result, and becomes `StoredWeights`, with q, k from the matrix product
before it and v from the one after. torch's own `nn.MultiheadAttention` is opened up by `multihead`.
Only operations inside the watched modules count, and none inside attnviz's own attention function.
torch's opaque fast path is off while it watches.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from attnviz import masks
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.projection import Projection
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.record import multihead
from attnviz.capture.record.interface import inside
from attnviz.types import Kind

aten = torch.ops.aten
SOFTMAX = {aten._softmax.default, aten._safe_softmax.default}
PRODUCTS = {aten.bmm.default, aten.baddbmm.default}
FUSED = {
    aten._scaled_dot_product_flash_attention_for_cpu.default: "causal at 4",
    aten._scaled_dot_product_flash_attention.default: "causal at 4",
    aten._scaled_dot_product_efficient_attention.default: "causal at 6",
    aten._scaled_dot_product_attention_math.default: "causal at 5",
}
HEAD_COUNTS = "num_heads num_attention_heads n_heads n_head heads num_attn_heads n_local_heads"
RECENT_PRODUCTS = 8
# how torch's own module scales q before the product
SCALE = aten.mul.Tensor


class _FastPath:
    """torch's opaque fast path: off while anyone watches, then as it was before the first.

    The switch belongs to the process, while models are recorded in several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watchers = 0
        self._before = True

    @contextmanager
    def off(self) -> Iterator[None]:
        """While the block runs, torch's attention modules compute in steps that can be seen."""
        with self._lock:
            if self._watchers == 0:
                self._before = torch.backends.mha.get_fastpath_enabled()
                torch.backends.mha.set_fastpath_enabled(False)
            self._watchers += 1
        try:
            yield
        finally:
            with self._lock:
                self._watchers -= 1
                if self._watchers == 0:
                    torch.backends.mha.set_fastpath_enabled(self._before)


fast_path = _FastPath()


@dataclass
class Seen:
    """One attention that a watched module computed; `output` is weights·V where it was seen.

    `kind` and the projections are known where the module is torch's own.
    """

    module: nn.Module
    found: AttentionInputs | StoredWeights
    output: Tensor | None
    kind: Kind | None = None
    projections: dict[str, Projection] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    before: multihead.Softmax | None = None
    layout: "Layout | None" = None


@dataclass(frozen=True)
class Layout:
    """How batch and heads lie in the axes before query and key of a softmax.

    Where there are more than two such axes, a product may have them joined in that order, or with
    the heads moved behind the others.
    """

    lead: tuple[int, ...]
    n_heads: int | None

    def by_head(self, tensor: Tensor) -> Tensor:
        """[batch, head, row, column] of a tensor whose leading axes are these, joined or not."""
        return as_heads(tensor.reshape(*self.lead, *tensor.shape[-2:]), self.n_heads)

    def heads_last(self, tensor: Tensor) -> Tensor:
        """The same where the heads were moved behind the other axes before these were joined."""
        n_heads = as_heads(torch.empty(*self.lead, 1, 1, device="meta"), self.n_heads).shape[1]
        return tensor.reshape(-1, n_heads, *tensor.shape[-2:])


@dataclass(frozen=True, eq=False)
class _Running:
    """A watched module that is running; what it was given where it is torch's own."""

    module: nn.Module
    given: multihead.Arguments | None


@dataclass(frozen=True, eq=False)
class _Product:
    """left·right, or added + left·right."""

    left: Tensor
    right: Tensor
    out: Tensor
    added: Tensor | None


class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Reports each attention of the watched modules to `report`, in the order of execution."""

    def __init__(self, modules: dict[str, nn.Module], report: Callable[[Seen], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._running: list[_Running] = []
        self._products: list[_Product] = []
        self._scaled: tuple[Tensor, Tensor] | None = None
        self._open: Seen | None = None
        self._report = report
        self._names = {id(module): name for name, module in modules.items()}
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
        self._flush()
        given = None
        if isinstance(module, nn.MultiheadAttention):
            given = multihead.arguments(module, args, kwargs)
        self._running.append(_Running(module, given))

    def _leave_module(self, module: nn.Module, _args: object, output: object) -> None:
        running, seen = self._running.pop(), self._open
        if seen is not None and seen.output is not None and running.given is not None:
            assert isinstance(module, nn.MultiheadAttention)
            token = inside.set(True)  # what is computed here is not the model's
            try:
                self._open_up(module, running.given, seen, seen.output, output)
            finally:
                inside.reset(token)
        self._flush()

    def _open_up(
        self,
        module: nn.MultiheadAttention,
        given: multihead.Arguments,
        seen: Seen,
        mixed: Tensor,
        output: object,
    ) -> None:
        """Add what torch's own module shows of itself once it has returned."""
        seen.kind = given.kind
        if isinstance(seen.found, StoredWeights):
            seen.found = multihead.explained(seen.found, seen.before)
        if isinstance(seen.found, AttentionInputs):
            seen.projections, seen.absent = multihead.projections(
                module, self._names[id(module)], given, seen.found, mixed, output
            )

    def _flush(self) -> None:
        if self._open is not None:
            self._report(self._open)
        self._open = None
        self._scaled = None
        self._products.clear()

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        if self._running and not inside.get():
            if func in FUSED:
                self._see_fused(func, args, kwargs or {}, out)
            elif func in SOFTMAX:
                self._see_softmax(args, out)
            elif func in PRODUCTS:
                added = args[0].detach() if len(args) > 2 else None
                self._see_product(
                    _Product(args[-2].detach(), args[-1].detach(), out.detach(), added)
                )
            elif func is SCALE and self._running[-1].given is not None:
                self._scaled = args[0].detach(), out.detach()
        return out

    def _see_fused(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any
    ) -> None:
        self._flush()
        names = [argument.name for argument in func._schema.arguments]
        given = dict(zip(names, args, strict=False)) | kwargs
        query, key, value = (given[name].detach() for name in ("query", "key", "value"))
        mask = given.get("attn_mask", given.get("attn_bias"))
        may_attend, bias = masks.from_model(None if mask is None else mask.detach())
        scale = given.get("scale")
        inputs = AttentionInputs(
            query=query,
            key=key,
            value=value,
            mask=may_attend,
            causal=bool(given.get("is_causal", False)),
            scaling=query.shape[-1] ** -0.5 if scale is None else float(scale),
            bias=bias,
        )
        output = out[0] if isinstance(out, tuple) else out
        running = self._running[-1]
        self._open = Seen(running.module, inputs, output.detach().transpose(1, 2))
        if running.given is None:
            self._flush()

    def _see_softmax(self, args: tuple[Any, ...], out: Tensor) -> None:
        module = self._running[-1].module
        dim = args[1] % out.dim()
        if out.dim() < 3 or dim < out.dim() - 2:
            return
        products, scaled = list(self._products), self._scaled
        self._flush()
        weights = out.detach() if dim == out.dim() - 1 else out.detach().transpose(-1, -2)
        layout = Layout(tuple(weights.shape[:-2]), head_count(module))
        query, key, before = None, None, None
        made = next((p for p in reversed(products) if p.out.numel() == weights.numel()), None)
        if made is not None and made.out.shape[-2:] == weights.shape[-2:]:
            order = layout.by_head if same_memory(made.out, args[0]) else layout.heads_last
            query, key = order(made.left), order(made.right.transpose(-1, -2))
            if scaled is not None and _same(scaled[1], made.left):
                before = multihead.Softmax(scaled[0], made.added)
        found = StoredWeights(layout.by_head(weights), query, key)
        self._open = Seen(module, found, None, before=before, layout=layout)

    def _see_product(self, product: _Product) -> None:
        seen = self._open
        if seen is not None and isinstance(seen.found, StoredWeights) and seen.output is None:
            kept, left, layout = seen.found.kept, product.left, seen.layout
            assert layout is not None, "of the softmax that is open"
            fits = left.numel() == kept.numel() and left.shape[-2:] == kept.shape[-2:]
            for order in (layout.by_head, layout.heads_last) if fits else ():
                used = order(left)
                if _equal(used, kept) or _emptied(used, kept):
                    seen.found = replace(seen.found, kept=used, value=order(product.right))
                    # a copy: what the model adds in place is no part of weights·V
                    seen.output = order(product.out).transpose(1, 2).clone()
                    return
        self._products = [*self._products[1 - RECENT_PRODUCTS :], product]


def _same(one: Tensor, other: Tensor) -> bool:
    """True for two views of one place in memory, laid out alike."""
    places = [(of.data_ptr(), of.shape, of.stride()) for of in (one, other)]
    return places[0] == places[1]


def _emptied(used: Tensor, kept: Tensor) -> bool:
    """True where a softmax was used with some of its weights set to 0, as a late mask does."""
    return bool(((used == kept) | (used == 0)).all()) and bool(used.any())


def same_memory(one: Tensor, other: Tensor) -> bool:
    """True for two contiguous tensors that are one place in memory, whatever their axes."""
    both = one.is_contiguous() and other.is_contiguous() and one.numel() == other.numel()
    return both and one.data_ptr() == other.data_ptr()


def _equal(one: Tensor, other: Tensor) -> bool:
    """True for the same numbers; NaN too, where both are one place in memory."""
    return _same(one, other) or torch.equal(one, other)


def head_count(module: nn.Module) -> int | None:
    """How many heads a module says it has."""
    for name in HEAD_COUNTS.split():
        count = getattr(module, name, None)
        if isinstance(count, int) and count > 0:
            return count
    return None


def as_heads(weights: Tensor, n_heads: int | None) -> Tensor:
    """[batch, head, query, key] of weights whose leading axes are batch·head, or more of them."""
    n_query, n_key = weights.shape[-2:]
    if weights.dim() == 4:
        return weights
    if weights.dim() == 3:
        heads = n_heads if n_heads and weights.shape[0] % n_heads == 0 else 1
        return weights.reshape(-1, heads, n_query, n_key)
    # windows or patches beside the heads: they join the batch
    axis = next((i for i in (1, 2) if weights.shape[i] == n_heads), 1)
    return weights.movedim(axis, -3).reshape(-1, weights.shape[axis], n_query, n_key)
