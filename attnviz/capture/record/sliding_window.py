"""Attention in a sliding window: weights that stand on the diagonals of chunks before the values.

In: an open softmax over the places of a window, and the product of chunks [chunk, query, place]
with overlapping chunks of values (Longformer, Beltagy et al. 2020, section 3.1). Out: the q, k, v
and mask of the same attention over all keys. Nothing is believed: the chunks have to hold the
numbers of the softmax row by row, their values the rows that a linear layer wrote, and the softmax
of factor · q·kᵀ, with q and k as layers wrote them, has to be the weights.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.attention import formula
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.tolerance import FLOAT32_STEP, ROUNDING
from attnviz.capture.locate.structure import is_same_source
from attnviz.capture.record.derived_attention import SCORE_STEPS
from attnviz.capture.record.operations import LayerRun, MatrixProduct, OpenSoftmax
from attnviz.types import Kind

MAX_QUERIES = 4096  # of a text whose mask over all keys is kept
MIN_CHUNKS = 2
PROOF_ROWS = 16
MAX_PROOF_ROWS = 256


@dataclass(frozen=True, eq=False)
class Windowed:
    """An attention in a window over all its keys; `mixed` is [batch, query, head, d]."""

    inputs: AttentionInputs
    mixed: Tensor
    kind: Kind


@dataclass(frozen=True, eq=False)
class _Chunks:
    """Weights [batch, head, chunk, query, place], values and results in the same order."""

    weights: Tensor
    values: Tensor
    mixed: Tensor

    @property
    def n_token(self) -> int:
        """The number of queries in all chunks."""
        return self.weights.shape[2] * self.weights.shape[3]

    def whole(self, before: int, batch: int, head: int) -> Float[Tensor, "query key"] | None:
        """The weights of a head over all keys, if a chunk begins `before` places before its first
        query; None if a weight lies outside of the text.
        """
        chunks = self.weights[batch, head]
        n_chunk, n_query, n_place = chunks.shape
        size = n_chunk * n_query
        wide = chunks.new_zeros(n_chunk, n_query, size + 2 * n_place)
        for chunk in range(n_chunk):
            start = chunk * n_query - before + n_place
            wide[chunk, :, start : start + n_place] = chunks[chunk]
        rows = wide.flatten(0, 1)
        inside = rows[:, n_place : n_place + size]
        return inside if bool(inside.count_nonzero() == chunks.count_nonzero()) else None


def windowed(
    softmax: OpenSoftmax, product: MatrixProduct, layers: Iterable[LayerRun]
) -> Windowed | None:
    """The attention whose weights, spread over chunks, are the left factor of a product."""
    runs = list(layers)
    for chunks in _chunks(softmax, product):
        written = list(_written(runs, chunks))
        for values, _ in written:
            before = _places_before(chunks, values)
            visible = None if before is None else _visible(chunks, before)
            if before is not None and visible is not None:
                return _explained(chunks, before, visible, values, written)
    return None


def _chunks(softmax: OpenSoftmax, product: MatrixProduct) -> Iterator[_Chunks]:
    """The orders of batch, heads and queries in which the softmax's rows are those of the chunks.

    Zeros are what the rows were padded with, so only the other numbers count.
    """
    kept, left = softmax.kept, product.left
    axes = [axis for axis in range(kept.dim()) if axis != softmax.axis]
    n_row = kept.numel() // max(kept.shape[softmax.axis], 1)
    if len(axes) != 3 or left.shape[0] * left.shape[1] != n_row:
        return
    if max(kept.shape[axis] for axis in axes) > MAX_QUERIES:
        return
    rows = left.flatten(0, 1)
    counts, numbers = (rows != 0).sum(1), rows[rows != 0]
    is_used = counts > 0  # a row that was set to 0 after the softmax has no number to compare
    for order in permutations(axes):
        sizes = [kept.shape[axis] for axis in order]
        n_chunk = sizes[2] // max(left.shape[1], 1)
        if n_chunk < MIN_CHUNKS or n_chunk * left.shape[1] != sizes[2]:
            continue
        theirs = kept.permute(*order, softmax.axis).flatten(0, 2).to(rows.dtype)[is_used]
        is_same = torch.equal((theirs != 0).sum(1), counts[is_used])
        if not is_same or not torch.equal(theirs[theirs != 0], numbers):
            continue
        parts = [
            part.reshape(sizes[0], sizes[1], n_chunk, *part.shape[1:])
            for part in (product.left, product.right, product.out)
        ]
        left, right, out = parts
        yield _Chunks(left, right, out)
        yield _Chunks(left.transpose(0, 1), right.transpose(0, 1), out.transpose(0, 1))


def _written(runs: list[LayerRun], chunks: _Chunks) -> Iterator[tuple[Tensor, LayerRun]]:
    """[batch, head, token, d] of each layer that wrote as many numbers, in two orders of rows."""
    n_batch, n_head = chunks.weights.shape[:2]
    width, n_token = chunks.values.shape[-1], chunks.n_token
    for run in reversed(runs):
        if run.written.numel() != n_batch * n_head * n_token * width:
            continue
        if run.written.shape[-1] != n_head * width:
            continue
        yield run.written.reshape(n_batch, n_token, n_head, width).transpose(1, 2), run
        yield run.written.reshape(n_token, n_batch, n_head, width).permute(1, 2, 0, 3), run


def _places_before(chunks: _Chunks, values: Tensor) -> int | None:
    """The number of places before its first query at which each chunk of values begins."""
    n_chunk, n_query, n_place = chunks.weights.shape[2:]
    first = (chunks.values[0, 0, 0] == values[0, 0, 0]).all(-1)
    for before in first.nonzero()[:, 0].tolist():
        padded = torch.nn.functional.pad(values, (0, 0, n_place, n_place))
        shifted = (
            padded[:, :, start : start + n_place]
            for start in (n_place - before + chunk * n_query for chunk in range(n_chunk))
        )
        theirs = torch.stack(list(shifted), 2)
        places = torch.arange(n_chunk)[:, None] * n_query - before + torch.arange(n_place)
        is_inside = ((places >= 0) & (places < chunks.n_token)).to(values.device)
        differs = (theirs != chunks.values).any(-1) & is_inside
        if not bool(differs.any()):
            return int(before)
    return None


def _visible(chunks: _Chunks, before: int) -> Bool[Tensor, "batch 1 query key"] | None:
    """True for each pair that has a weight in some head; None if a weight is outside the text."""
    rows = []
    for batch in range(len(chunks.weights)):
        seen = None
        for head in range(chunks.weights.shape[1]):
            whole = chunks.whole(before, batch, head)
            if whole is None:
                return None
            seen = whole > 0 if seen is None else seen | (whole > 0)
        rows.append(seen)
    return torch.stack([row for row in rows if row is not None])[:, None]


def _explained(
    chunks: _Chunks,
    before: int,
    visible: Tensor,
    values: Tensor,
    written: list[tuple[Tensor, LayerRun]],
) -> Windowed | None:
    """The attention by the q and k whose products lead to the weights; None if none do."""
    first = chunks.whole(before, 0, 0)
    assert first is not None
    for query, q_run in written:
        for key, k_run in written:
            factor = _factor(query[0, 0], key[0, 0], first)
            if factor is None:
                continue
            inputs = AttentionInputs(
                query=query.clone(),
                key=key.clone(),
                value=values.clone(),
                mask=visible,
                causal=False,
                scaling=factor,
            )
            if _is_proven(inputs, chunks, before):
                reads = [run.read.flatten(0, -2) for run in (q_run, k_run)]
                mixed = chunks.mixed.flatten(2, 3).transpose(1, 2).clone()
                return Windowed(inputs, mixed, "self" if is_same_source(*reads) else "cross")
    return None


def _factor(
    query: Float[Tensor, "query d"],
    key: Float[Tensor, "key d"],
    weights: Float[Tensor, "query key"],
) -> float | None:
    """The number c for which c·q·kᵀ are the logarithms of the weights, up to one for each row."""
    rows = slice(None, None, math.ceil(len(weights) / PROOF_ROWS))
    some = weights[rows].float()
    visible = some > 0
    count = visible.sum(-1, keepdim=True).clamp(min=1)

    def centred(numbers: Tensor) -> Tensor:
        numbers = numbers.masked_fill(~visible, 0)
        return (numbers - numbers.sum(-1, keepdim=True) / count).masked_fill(~visible, 0)

    logs, products = centred(some.log()), centred(formula.scores(query[rows].float(), key.float()))
    size = float((products * products).sum())
    return float((products * logs).sum()) / size if size > 0 else None


def _is_proven(inputs: AttentionInputs, chunks: _Chunks, before: int) -> bool:
    """True if the inputs lead to the weights of every head, in some rows of a long text.

    Rows without a weight do not count.
    """
    share = ROUNDING.get(chunks.weights.dtype, ROUNDING[torch.float32])
    rows = slice(None, None, math.ceil(inputs.n_query / MAX_PROOF_ROWS))
    for batch in range(inputs.n_batch):
        for head, largest_score in enumerate(inputs.largest_scores(batch)):
            whole = chunks.whole(before, batch, head)
            assert whole is not None
            theirs = whole[rows].float()
            ours = inputs.stages(head, batch, rows=rows)["weights"]
            limit = share / 2 + SCORE_STEPS * FLOAT32_STEP * largest_score
            is_used = theirs.sum(-1) > 0
            if not bool(((ours - theirs).abs().sum(-1) <= limit)[is_used].all()):
                return False
    return True
