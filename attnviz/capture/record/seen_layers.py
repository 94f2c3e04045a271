"""The linear layers that ran last, and what they show of an attention: its layout and its kind.

In: products with parameters, as they run, and an attention that was seen. Out: the order of batch
and heads under which a layer wrote its v, k or q or reads its mixed values, and "self" if its q and
k were computed from the same numbers.
"""

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from attnviz.capture.locate.layers import TensorState
from attnviz.capture.record import evidence, head_layout
from attnviz.capture.record.evidence import Arrangement, RowRoles
from attnviz.capture.record.head_layout import HeadLayout
from attnviz.capture.record.operations import (
    LayerRun,
    MatrixProduct,
    OpenSoftmax,
    Scaling,
    ScoreSource,
    Stack,
)
from attnviz.capture.record.parameter_products import Product, products_of
from attnviz.capture.record.row_parts import RowPart, RowParts
from attnviz.types import Kind

RECENT_LAYERS = 12
MAX_GROWTH = 16  # of a layer's output over its input: scores of a vocabulary are not kept


@dataclass(eq=False)
class Undecided:
    """An attention of which no layer has shown the order of its axes yet.

    `instead` has the other orders of a call whose heads are rows of its product; `kind` is what the
    scores show of two lengths that differ, `states` what the model may change while the call waits.
    """

    softmax: OpenSoftmax
    stack: Stack
    arrangement: Arrangement
    weights: Tensor
    values: Tensor
    mixed: Tensor
    factors: tuple[Tensor, Tensor, ScoreSource] | None
    scaling: Scaling | None
    layout: HeadLayout | None
    number: int
    instead: tuple["Undecided", ...] = ()
    kind: Kind | None = None
    states: tuple[TensorState, ...] = ()

    @property
    def lead(self) -> tuple[int, ...]:
        """The sizes of the axes before query and key."""
        return self.arrangement.sizes

    def wait(self) -> None:
        """Remember the tensors that are not copied, for the layer that is to show their order."""
        kept = self.weights, self.values, *(() if self.factors is None else self.factors[:2])
        self.states = tuple(TensorState.of(tensor, is_counted=False) for tensor in kept)

    @property
    def is_learned(self) -> bool:
        """True if no product of two computed tensors entered the scores: so far, it may be half
        of linear attention.
        """
        return all(source.is_learned for source in self.softmax.sources)


def undecided(
    softmax: OpenSoftmax,
    stack: Stack,
    arrangement: Arrangement,
    product: MatrixProduct,
    scaling: Scaling | None,
    number: int,
) -> Undecided:
    """The attention whose weights, arranged so, are the left factor of a product."""
    mixed = product.out
    if product.added is not None:
        added = product.added
        mixed = mixed - (added.reshape(mixed.shape) if added.numel() == mixed.numel() else added)
    return Undecided(
        softmax,
        stack,
        arrangement,
        product.left,
        product.right,
        # a copy: the model may add to it in place, which is not part of weights·V
        mixed.clone(),
        evidence.factors(softmax, arrangement, product.left),
        scaling,
        None,
        number,
    )


def _unfolded(
    softmax: OpenSoftmax,
    stack: Stack,
    arrangement: Arrangement,
    roles: RowRoles,
    product: MatrixProduct,
    number: int,
) -> Undecided:
    """The attention whose heads are rows of a product, which share values."""
    return Undecided(
        softmax,
        stack,
        arrangement,
        roles.apart(product.left),
        roles.shared(product.right),
        roles.apart(product.out).clone(),
        None,
        None,
        None,
        number,
    )


def is_one_text(layout: HeadLayout, call: Undecided) -> bool:
    """True unless the queries of one text may stand in the batch, one by one, each with keys of its
    own: unfolded windows, whose order q alone does not show.
    """
    n_query, n_key = call.weights.shape[-2:]
    is_batch = any(size > 1 for size in layout.batch_sizes)
    return n_query > 1 or n_key == 1 or not is_batch or len(call.lead) == 2


class SeenLayers:
    """The layers that ran last in one thread."""

    def __init__(self, parts: RowParts) -> None:
        self._parts = parts
        self.runs: deque[LayerRun] = deque(maxlen=RECENT_LAYERS)
        self.are_all_known = True  # no product with several matrices of parameters ran

    @property
    def are_none(self) -> bool:
        """True if no layer ran."""
        return self.are_all_known and not self.runs

    def clear(self) -> None:
        """Forget all layers."""
        self.runs.clear()
        self.are_all_known = True

    def add(self, layer: LayerRun) -> None:
        """Keep a layer, unless its output is very large."""
        if layer.written.numel() <= MAX_GROWTH * layer.read.numel():
            self.runs.append(layer)

    def have_written(self, layout: HeadLayout, tensor: Tensor, part: RowPart | None = None) -> bool:
        """True if a layer wrote a tensor [axes, token, d] under a layout.

        Of a `part`, if that is known of what the tensor was copied from, it wrote more rows.
        """
        rows = {None, part, self._parts.along(tensor, tensor.dim() - 2)}
        return any(
            head_layout.written_by(layout, tensor, run.written, part=part)
            for run in reversed(self.runs)
            for part in rows
        )

    def products(
        self,
        stack: Stack,
        layout: HeadLayout,
        tensors: Mapping[str, Tensor],
        names: Iterable[str],
    ) -> dict[str, Product]:
        """The products with parameters that wrote those of q, k and v that are named.

        Those that ran in a module of the attention's `stack`: another module has them as a part.
        """
        wanted = {name: tensors[name] for name in names if name in tensors}
        runs = [run for run in self.runs if any(run.module is module for module in stack)]
        return products_of(runs, layout, wanted)

    def layout(self, call: Undecided) -> HeadLayout | None:
        """The layout that torch's own module has, or under which layers wrote v, k or q."""
        if isinstance(call.stack[-1], nn.MultiheadAttention):
            n_heads = call.stack[-1].num_heads
            return HeadLayout((math.prod(call.lead) // n_heads, n_heads), 1)
        n_heads = head_layout.head_count(call.stack)
        values_and_keys = [call.values, *(() if call.factors is None else call.factors[1:2])]
        queries = [] if call.factors is None else [call.factors[0]]
        for layout in head_layout.layouts(call.lead, n_heads):
            tensors = values_and_keys + (queries if is_one_text(layout, call) else [])
            for tensor in tensors:
                if self.have_written(layout, tensor):
                    return layout
        return None

    def show_stacked_queries(self, call: Undecided, layout: HeadLayout) -> bool:
        """True if a layer wrote the rows of q as several heads, one below the other.

        So multi-query attention is written with one product for all heads.
        """
        if call.factors is None or layout.n_heads > 1 or self.have_written(layout, call.factors[0]):
            return False
        q = layout.by_head(call.factors[0])[:, 0]
        n_batch, n_row, width = q.shape
        for run in self.runs:
            n_token, rest = divmod(run.written.numel() // run.written.shape[-1], n_batch)
            if rest or not n_token or n_token == n_row or n_row % n_token:
                continue
            heads = HeadLayout((n_batch, n_row // n_token), 1)
            parts = q.reshape(n_batch * heads.n_heads, n_token, width)
            if head_layout.written_by(heads, parts, run.written):
                return True
        return False

    def show_one_score(self, call: Undecided, layout: HeadLayout) -> bool:
        """True if a layer read the values whole and another one made one score of each (Bahdanau,
        additive attention): they have no heads.
        """
        sources = call.softmax.sources
        if not sources or any(source.shape[-1] != 1 for source in sources):
            return False
        return any(head_layout.read_by(layout, call.values, run.read) for run in self.runs)

    def with_shared_values(
        self, softmax: OpenSoftmax, stack: Stack, product: MatrixProduct, number: int
    ) -> Undecided | None:
        """A call whose heads stand among the rows of the product, since they share their values.

        The layer that wrote q shows which of the rows' axes are the queries and in which order the
        heads are. Without it the call has all orders that there may be, if its values are shown.
        """
        source = evidence.only_source(softmax)
        if source is not None and source.left.shape[:2] != product.left.shape[:2]:
            source = None
        ways = []
        for arrangement, roles in evidence.with_heads_in_rows(softmax, product.left):
            call = _unfolded(softmax, stack, arrangement, roles, product, number)
            if source is not None:
                k = roles.shared(source.right.transpose(-1, -2))
                for q in (roles.apart(source.left), roles.apart(source.left, turned=True)):
                    if self._have_written_in_order(HeadLayout(roles.lead, 1), q):
                        layout = HeadLayout(roles.lead, 1)
                        return replace(call, factors=(q, k, source), layout=layout)
                    if call.factors is None and evidence.lead_to(q, k, call.weights):
                        call.factors = q, k, source
            ways.append(call)
        if not ways or not self._show_values(softmax, product.right):
            return None
        return replace(ways[0], instead=tuple(ways[1:]))

    def _show_values(self, softmax: OpenSoftmax, values: Tensor) -> bool:
        """True if a layer wrote the values [axes, key, d] of a product, or if they are its keys."""
        layouts = head_layout.layouts((len(values),), None)
        if any(self.have_written(layout, values) for layout in layouts):
            return True
        keys = (source.right.transpose(-1, -2) for source in softmax.sources)
        return any(key.shape == values.shape and torch.equal(key, values) for key in keys)

    def _have_written_in_order(self, layout: HeadLayout, tensor: Tensor) -> bool:
        """True if a layer wrote the heads of a tensor side by side, in their order."""
        return any(
            head_layout.written_in_order(layout, tensor, run.written) for run in reversed(self.runs)
        )

    def reads(self, layout: HeadLayout, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor] | None:
        """The inputs of the layers that made q and k; None if they are not known."""
        of_query, of_key = (self._read_by_writer(layout, tensor) for tensor in (query, key))
        return None if of_query is None or of_key is None else (of_query, of_key)

    def _read_by_writer(self, layout: HeadLayout, tensor: Tensor) -> Tensor | None:
        """The input of the layer that wrote a tensor; None if no layer did."""
        for layer in reversed(self.runs):
            if head_layout.written_by(layout, tensor, layer.written, scaled=True):
                return layer.read.flatten(0, -2)
        return None

    def fused_layout(self, query: Tensor, value: Tensor, stack: Stack) -> HeadLayout | None:
        """The order of the axes of a fused kernel's tensors, if a layer shows it."""
        if isinstance(stack[-1], nn.MultiheadAttention):
            return None
        lead = tuple(value.shape[:2])
        flat, part = value.flatten(0, 1), self._parts.along(value, 2)
        for axis in (1, 0):
            layout = HeadLayout(lead, axis)
            if self.have_written(layout, flat, part):
                return layout
        return None
