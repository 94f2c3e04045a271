"""The operand of a product as the weights of a softmax, and the q and k behind them.

In: an open softmax, and a product that multiplies something computed from it. Out: the sizes of the
axes before query and key, told by the arrangement of the softmax's own axes that is the operand,
number by number. q and k are the factors of the one product that entered the softmax; where several
did (content and position, in DeBERTa), none are given.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import torch
from torch import Tensor

from attnviz.attention import formula
from attnviz.capture.record.operations import OpenSoftmax, ScoreSource

MAX_ARRANGEMENTS = 24
# the share by which logarithms of weights may differ from q·k, in half precision too
PROOF = 2e-2
PROOF_ROWS = 4


@dataclass(frozen=True)
class Arrangement:
    """Axes of a softmax in the order of an operand: those before the queries, queries, keys.

    `sizes` are those of the axes before the queries.
    """

    lead: tuple[int, ...]
    query: int | None
    key: int
    sizes: tuple[int, ...]

    def of(self, tensor: Tensor) -> Tensor:
        """[axes joined, query, key] of a tensor with the shape of the softmax."""
        order = (*self.lead, *(() if self.query is None else (self.query,)), self.key)
        n_query = 1 if self.query is None else tensor.shape[self.query]
        return tensor.permute(order).reshape(math.prod(self.sizes), n_query, tensor.shape[self.key])


def arranged(softmax: OpenSoftmax, operand: Tensor) -> Arrangement | None:
    """The arrangement of a softmax's axes that gives an operand [axes, query, key]; None if none.

    Numbers that were set to 0 after the softmax do not count as a difference.
    """
    kept = softmax.kept
    if kept.numel() != operand.numel() or kept.shape[softmax.axis] != operand.shape[-1]:
        return None
    for late in (False, True):
        for candidate in _arrangements(kept.shape, softmax.axis, operand):
            moved = candidate.of(kept).reshape(operand.shape).to(operand.dtype)
            if _is_masked_late(operand, moved) if late else _are_equal(operand, moved):
                return candidate
    return None


def _arrangements(shape: torch.Size, key: int, operand: Tensor) -> Iterator[Arrangement]:
    """The arrangements of axes, `key` the one that is summed over, that fit an operand's sizes."""
    axes = [axis for axis in range(len(shape)) if axis != key]
    n_tried = 0
    if not axes:
        yield Arrangement((), None, key, ())
    for order in permutations(axes):
        lead, query = order[:-1], order[-1] if order else None
        sizes = tuple(shape[axis] for axis in lead)
        fits = query is not None and shape[query] == operand.shape[-2]
        if fits and math.prod(sizes) == operand.shape[0] and n_tried < MAX_ARRANGEMENTS:
            n_tried += 1
            yield Arrangement(lead, query, key, sizes)
    if axes and operand.shape[-2] == 1:  # one query, without an axis
        sizes = tuple(shape[axis] for axis in axes)
        yield Arrangement(tuple(axes), None, key, sizes)


def arranged_by_another_axis(softmax: OpenSoftmax, operand: Tensor) -> Arrangement | None:
    """The arrangement of an operand that is summed over another axis than the softmax's."""
    kept = softmax.kept
    if kept.numel() != operand.numel():
        return None
    for key in range(kept.dim()):
        if key == softmax.axis or kept.shape[key] != operand.shape[-1]:
            continue
        for candidate in _arrangements(kept.shape, key, operand):
            moved = candidate.of(kept).reshape(operand.shape).to(operand.dtype)
            if _are_equal(operand, moved):
                return candidate
    return None


@dataclass(frozen=True)
class RowRoles:
    """The roles of the axes of a product's left factor whose rows are heads and queries.

    `sizes` are those of the axes before the columns, the last two of them the rows.
    `heads` are in the order in which heads are counted.
    """

    sizes: tuple[int, ...]
    batch: int
    heads: tuple[int, ...]
    query: int

    @property
    def lead(self) -> tuple[int, int]:
        """The number of texts and of heads."""
        return self.sizes[self.batch], math.prod(self.sizes[axis] for axis in self.heads)

    def apart(self, tensor: Tensor, *, turned: bool = False) -> Tensor:
        """[texts and heads, query, column] of a tensor [products, rows, column].

        `turned` if its rows have the two axes in the other order.
        """
        n, sizes = len(self.sizes), self.sizes
        if turned:
            sizes = (*sizes[:-2], sizes[-1], sizes[-2])
        whole = tensor.reshape(*sizes, tensor.shape[-1])
        whole = whole.transpose(n - 2, n - 1) if turned else whole
        return whole.permute(self.batch, *self.heads, self.query, n).flatten(0, n - 2)

    def shared(self, tensor: Tensor) -> Tensor:
        """[texts and heads, key, column], a copy of keys or values [products, key, column] each."""
        n, rest = len(self.sizes), tensor.shape[1:]
        whole = tensor.reshape(*self.sizes[:-2], 1, 1, *rest).expand(*self.sizes, *rest)
        of_head = whole.narrow(self.query, 0, 1)
        return of_head.permute(self.batch, *self.heads, self.query, n, n + 1).flatten(0, n - 1)


def only_source(softmax: OpenSoftmax) -> ScoreSource | None:
    """The product of q and k, if one alone entered the softmax."""
    sources = [source for source in softmax.sources if not source.has_learned_columns]
    return sources[0] if len(sources) == 1 else None


def with_heads_in_rows(
    softmax: OpenSoftmax, weights: Tensor
) -> Iterator[tuple[Arrangement, RowRoles]]:
    """The ways in which rows of a left factor may be heads and queries, with the softmax's axes.

    Heads that share keys and values are rows of one product of matrices: all of a text (multi-query
    attention, DeepSeek's absorbed form), or those of a group (`einsum("bgrij,bjgd->bigrd", …)`).
    """
    kept = softmax.kept
    axes = [axis for axis in range(kept.dim()) if axis != softmax.axis]
    if len(axes) not in (3, 4) or kept.shape[softmax.axis] != weights.shape[2]:
        return
    for order in permutations(axes):
        sizes = tuple(kept.shape[axis] for axis in order)
        if (math.prod(sizes[:-2]), sizes[-2] * sizes[-1]) != weights.shape[:2]:
            continue
        moved = kept.permute(*order, softmax.axis).reshape(weights.shape)
        if _are_equal(weights, moved.to(weights.dtype)):
            for roles in _row_roles(sizes):
                lead = tuple(order[axis] for axis in (roles.batch, *roles.heads))
                yield Arrangement(lead, order[roles.query], softmax.axis, roles.lead), roles
            return


def _row_roles(sizes: tuple[int, ...]) -> Iterator[RowRoles]:
    """The roles that axes of these sizes may have."""
    n = len(sizes)
    for query, head in ((n - 1, n - 2), (n - 2, n - 1)):
        for batch in range(n - 2):
            groups = tuple(axis for axis in range(n - 2) if axis != batch)
            yield RowRoles(sizes, batch, (*groups, head), query)
            if groups:
                yield RowRoles(sizes, batch, (head, *groups), query)


def factors(
    softmax: OpenSoftmax, arrangement: Arrangement, weights: Tensor
) -> tuple[Tensor, Tensor, ScoreSource] | None:
    """q and k [axes, token, d] in the order of `weights`, if one product alone shows them."""
    source = only_source(softmax)
    if source is None or math.prod(source.shape) != weights.numel():
        return None
    n_lead, n_query, n_key = weights.shape
    left, right = source.left, source.right.transpose(-1, -2)
    in_order = (*sorted(arrangement.lead), arrangement.query) == (
        *arrangement.lead,
        arrangement.query,
    )
    for query, key in ((left, right), (right, left)):
        if query.shape[:2] != (n_lead, n_query) or key.shape[:2] != (n_lead, n_key):
            continue
        is_natural = in_order and (query is left or n_query != n_key)  # it fits in one way only
        if is_natural or lead_to(query, key, weights):
            return query, key, source
    return None


def lead_to(query: Tensor, key: Tensor, weights: Tensor) -> bool:
    """True if softmax(c·q·kᵀ) is the weights for one c.

    Compared are some rows; keys of weight 0 are taken for masked.
    """
    rows = slice(None, None, math.ceil(weights.shape[1] / PROOF_ROWS))
    some = weights[:, rows].float()
    visible = some > 0
    scores = formula.scores(query[:, rows].float(), key.float()).masked_fill(~visible, 0)
    logs = some.log().masked_fill(~visible, 0)
    count = visible.sum(-1, keepdim=True).clamp(min=1)
    scores = (scores - scores.sum(-1, keepdim=True) / count).masked_fill(~visible, 0)
    logs = (logs - logs.sum(-1, keepdim=True) / count).masked_fill(~visible, 0)
    size = float((scores * scores).sum())
    if not size > 0:
        return False
    scale = float((scores * logs).sum()) / size
    error = float((logs - scale * scores).abs().max())
    return error <= PROOF * max(1.0, float(logs.abs().max()))


def sums_to_one(weights: Tensor, axis: int) -> bool:
    """True if every line along an axis sums to 1, up to rounding; lines of NaN or 0 are let by.

    Half precision rounds the logarithm of a sum, and each score less it: 4 % was measured in
    bfloat16 where both were about 8.
    """
    sums = weights.float().sum(axis)
    tolerance = max(1e-4, 16 * torch.finfo(weights.dtype).eps)
    is_one = (sums - 1).abs() <= tolerance
    return bool((is_one | sums.isnan() | (sums == 0)).all()) and bool(is_one.any())


def _are_equal(left: Tensor, right: Tensor) -> bool:
    """True for the same numbers, NaN at the same places included."""
    if torch.equal(left, right):
        return True
    return bool(left.isnan().any()) and bool(
        ((left == right) | (left.isnan() & right.isnan())).all()
    )


def _is_masked_late(used: Tensor, kept: Tensor) -> bool:
    """True if `used` equals `kept` except for entries set to 0 after the softmax."""
    return bool(((used == kept) | (used == 0)).all()) and bool(used.any())


def has_keys(softmax: OpenSoftmax, value_sources: Sequence[ScoreSource]) -> bool:
    """True unless the scores are columns of a linear layer, as those of a router are."""
    if any(not source.has_learned_columns for source in softmax.sources):
        return True
    if any(not source.is_learned for source in value_sources):
        return False  # q·(kᵀ·v): the second factor of linear attention
    return softmax.over_positions or not softmax.sources
