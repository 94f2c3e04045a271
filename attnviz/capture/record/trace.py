"""The attention that one watched module computes, put together from the operations that it runs.

In: fused kernels, softmaxes, matrix products and scalings, in the order in which they run. Out: a
report of each `SeenAttention`. A fused kernel shows q, k, v and mask. A softmax shows its weights;
q and k come from the matrix product before it and v from the one behind it.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from attnviz import masks
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.projection import Projection
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.record import multihead
from attnviz.capture.record.head_layout import HeadLayout, head_count
from attnviz.types import Kind

RECENT_PRODUCTS = 8


@dataclass(frozen=True, eq=False)
class SeenAttention:
    """One attention of a watched module; `output` is weights·V, None if no product was seen.

    `kind` and the projections are known if the module is torch's own, and so is the `product`
    before its softmax.
    """

    module: nn.Module
    inputs: AttentionInputs | StoredWeights
    output: Tensor | None = None
    kind: Kind | None = None
    projections: dict[str, Projection] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    product: multihead.ScoreProduct | None = None


@dataclass(frozen=True, eq=False)
class MatrixProduct:
    """left·right, or added + left·right."""

    left: Tensor
    right: Tensor
    out: Tensor
    added: Tensor | None


@dataclass(frozen=True, eq=False)
class Scaling:
    """A tensor before and after it was multiplied by a number."""

    before: Tensor
    after: Tensor


class ModuleTrace:
    """The operations of one module until it ends, or until a watched module inside it begins.

    `attention` is the one that they formed last and that was not reported yet. A softmax waits for
    its product with the values. torch's own module `opens_late`: more is known when it returns.
    """

    def __init__(
        self,
        module: nn.Module,
        report: Callable[[SeenAttention], None],
        *,
        opens_late: bool = False,
    ) -> None:
        self.attention: SeenAttention | None = None
        self.opens_late = opens_late
        self._module, self._report = module, report
        self._products: deque[MatrixProduct] = deque(maxlen=RECENT_PRODUCTS)
        self._scaling: Scaling | None = None
        self._layout: HeadLayout | None = None

    def flush(self) -> None:
        """Report the attention that was not reported yet, and forget all operations."""
        attention, self.attention, self._layout = self.attention, None, None
        self._products.clear()
        self._scaling = None
        if attention is not None:
            self._report(attention)

    def add_scaling(self, scaling: Scaling) -> None:
        """Remember a scaling; in torch's own module the last one before a product is that of q."""
        self._scaling = scaling

    def add_fused(self, arguments: Mapping[str, Any], out: object) -> None:
        """Take a fused kernel as a whole attention."""
        self.flush()
        query, key, value = (arguments[name].detach() for name in ("query", "key", "value"))
        mask = arguments.get("attn_mask", arguments.get("attn_bias"))
        may_attend, bias = masks.from_model(None if mask is None else mask.detach())
        scale = arguments.get("scale")
        inputs = AttentionInputs(
            query=query,
            key=key,
            value=value,
            mask=may_attend,
            causal=bool(arguments.get("is_causal", False)),
            scaling=query.shape[-1] ** -0.5 if scale is None else float(scale),
            bias=bias,
        )
        output = out[0] if isinstance(out, tuple) else out
        assert isinstance(output, Tensor), "of a fused kernel"
        self.attention = SeenAttention(self._module, inputs, output.detach().transpose(1, 2))
        if not self.opens_late:
            self.flush()  # before the layer that reads the output runs

    def add_softmax(self, scores: Tensor, axis: int, out: Tensor) -> None:
        """Take a softmax over one of the last two axes as weights, and leave any other alone."""
        axis %= out.dim()
        if out.dim() < 3 or axis < out.dim() - 2:
            return
        weights = out.detach() if axis == out.dim() - 1 else out.detach().transpose(-1, -2)
        layout = HeadLayout(tuple(weights.shape[:-2]), head_count(self._module))
        query, key, before = None, None, None
        product = self._product_of(weights)
        if product is not None:
            by_head = same_memory(product.out, scores)
            order = layout.by_head if by_head else layout.heads_last
            query, key = order(product.left), order(product.right.transpose(-1, -2))
            scaling = self._scaling
            if scaling is not None and _is_same_view(scaling.after, product.left):
                before = multihead.ScoreProduct(scaling.before, product.added)
        self.flush()
        stored = StoredWeights(layout.by_head(weights), query, key)
        self.attention, self._layout = SeenAttention(self._module, stored, product=before), layout

    def _product_of(self, weights: Tensor) -> MatrixProduct | None:
        """The latest product with as many numbers as these weights, if its shape fits too."""
        for product in reversed(self._products):
            if product.out.numel() == weights.numel():
                return product if product.out.shape[-2:] == weights.shape[-2:] else None
        return None

    def add_product(self, product: MatrixProduct) -> None:
        """Take a matrix product as weights·V if it multiplies the open softmax; else as recent."""
        attention, layout = self.attention, self._layout
        if attention is not None and layout is not None and attention.output is None:
            stored = attention.inputs
            assert isinstance(stored, StoredWeights), "only a softmax waits for its product"
            kept, left = stored.kept, product.left
            fits = left.numel() == kept.numel() and left.shape[-2:] == kept.shape[-2:]
            for order in (layout.by_head, layout.heads_last) if fits else ():
                used = order(left)
                if _are_equal(used, kept) or _is_masked_late(used, kept):
                    # a copy: the model may add to it in place, which is not part of weights·V
                    output = order(product.out).transpose(1, 2).clone()
                    inputs = replace(stored, kept=used, value=order(product.right))
                    self.attention = replace(attention, inputs=inputs, output=output)
                    return
        self._products.append(product)


def _is_same_view(left: Tensor, right: Tensor) -> bool:
    """True for two views of one place in memory with the same layout."""
    return (left.data_ptr(), left.shape, left.stride()) == (
        right.data_ptr(),
        right.shape,
        right.stride(),
    )


def _is_masked_late(used: Tensor, kept: Tensor) -> bool:
    """True if `used` equals `kept` except for entries set to 0 after the softmax."""
    return bool(((used == kept) | (used == 0)).all()) and bool(used.any())


def same_memory(left: Tensor, right: Tensor) -> bool:
    """True for two contiguous tensors at one place in memory, whatever their axes."""
    comparable = left.is_contiguous() and right.is_contiguous() and left.numel() == right.numel()
    return comparable and left.data_ptr() == right.data_ptr()


def _are_equal(left: Tensor, right: Tensor) -> bool:
    """True for the same numbers; also for NaN, if both are one place in memory."""
    return _is_same_view(left, right) or torch.equal(left, right)
