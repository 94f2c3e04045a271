"""From captures of texts to their `SurveyTally`, batch after batch.

In: captures, with the texts and their places among all. Out: a `SurveyTally`. Its arrays are filled
in place while batches are added; afterwards nothing changes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Bool, Float32, Float64, Int64, UInt64
from torch import Tensor

from attnviz.attention.batch_weights import all_weights, visible_cells
from attnviz.attention.capture import Capture
from attnviz.corpus.tally import (
    BINS,
    CORNER,
    EXAMPLES,
    FURTHEST,
    NO_TICKET,
    SurveyTally,
    WeightSums,
    fixed,
    ticket,
    upper_ends,
)
from attnviz.corpus.text_measures import CallMeasures, PatternCells, TextBatch, call_measures
from attnviz.errors import BadInput

Values = Float64[np.ndarray, "text head measure"]


@dataclass(eq=False)
class Count:
    """The count of some texts while it grows; `tally` ends it."""

    n_entry: int
    texts: dict[int, str] = field(default_factory=dict)
    values: list[Values] = field(default_factory=list)
    _sums: SurveyTally | None = None
    _received: list[WeightSums] = field(default_factory=list)
    _pairs: list[WeightSums] = field(default_factory=list)

    def add(self, cap: Capture, numbers: Sequence[int], texts: Sequence[str]) -> None:
        """Count the texts of a capture; `numbers` are their places among all texts."""
        batch = TextBatch.of(cap)
        heads = [call.n_heads for call in cap.calls]
        if self._sums is None:
            self._sums = SurveyTally.empty(len(heads), sum(heads), self.n_entry)
        starts = np.cumsum([0, *heads])
        values = []
        cells: PatternCells | None = None
        for layer, call in enumerate(cap.calls):
            weights = all_weights(call.inputs).cpu()
            visible = visible_cells(call.inputs, weights).cpu().expand(batch.n_text, -1, -1)
            weights.mul_(batch.asks[:, None, :, None])  # only these count, from here on
            if cells is None or not torch.equal(cells.visible, visible):
                cells = PatternCells.of(visible, batch)
            numbers_of_call = call_measures(weights, cells, batch)
            _require_numbers(numbers_of_call, cap)
            values.append(numbers_of_call.values)
            heads_of_call = slice(int(starts[layer]), int(starts[layer + 1]))
            _add_means(self._sums, heads_of_call, layer, numbers_of_call)
            _add_places(self._sums, heads_of_call, layer, weights, visible, batch)
            self._received.append(_received(weights, batch, heads_of_call, self.n_entry))
            self._pairs.append(_pairs(numbers_of_call, batch, heads_of_call, self.n_entry))
        # of each cell of the corner, the texts that have it with a query that counts
        seen = (batch.asks[:, :, None] & batch.real[:, None, :])[:, :CORNER, :CORNER].sum(dim=0)
        self._sums.corner_seen[: seen.shape[0], : seen.shape[1]] += seen.numpy()
        n_token = int(batch.real.sum())
        self._sums = replace(
            self._sums,
            n_text=self._sums.n_text + batch.n_text,
            n_token=self._sums.n_token + n_token,
        )
        self.values.append(np.concatenate(values, axis=1))
        self.texts |= dict(zip(map(int, numbers), texts, strict=True))

    def tally(self) -> SurveyTally:
        """The tally of all texts that were added; there must be one."""
        assert self._sums is not None
        values = np.concatenate(self.values)
        _add_histogram(self._sums, values)
        tickets = np.array([ticket(text) for text in self.texts.values()], dtype=np.uint64)
        drawn, examples = _examples(values, tickets, np.array(list(self.texts)))
        kept = set(np.unique(examples).tolist())
        return replace(
            self._sums,
            ticket=drawn,
            example=examples,
            received=_joined(self._received),
            pairs=_joined(self._pairs),
            texts={number: self.texts[number] for number in sorted(kept & self.texts.keys())},
        )


def _require_numbers(numbers: CallMeasures, cap: Capture) -> None:
    """Raise `BadInput` for weights that are NaN: a sum would hide them."""
    if np.isnan(numbers.peak).any():
        raise BadInput(
            f"{cap.model.id} attended with NaN: its weights may be damaged, or its number type too"
            " small (float16)",
            code="nan_output",
            name=cap.model.id,
        )


def _joined(parts: Sequence[WeightSums]) -> WeightSums:
    """All parts as one."""
    columns = zip(*((part.code, part.weight, part.count) for part in parts), strict=True)
    return WeightSums.summed(*map(np.concatenate, columns))


def _add_means(tally: SurveyTally, heads: slice, layer: int, numbers: CallMeasures) -> None:
    """Counts, sums and squares of the means of each text."""
    for sums, values in (
        (tally.values[:, heads], numbers.values),
        (tally.other_words[:, heads], numbers.other_words),
        (tally.even[:, layer], numbers.even),
    ):
        filled = np.nan_to_num(values)
        sums[0] += (~np.isnan(values)).sum(axis=0)
        sums[1] += fixed(filled).sum(axis=0)
        sums[2] += fixed(filled**2).sum(axis=0)


def _add_places(
    tally: SurveyTally,
    heads: slice,
    layer: int,
    weights: Float32[Tensor, "text head query key"],
    visible: Bool[Tensor, "text query key"],
    batch: TextBatch,
) -> None:
    """Weights by the distance to the key, and those between the first tokens."""
    total = weights.sum(dim=0)
    place = torch.arange(batch.n_token)
    distance = place[None, :] - place[:, None]
    near = distance.abs() <= FURTHEST
    bins = distance[near] + FURTHEST
    n_bin = 2 * FURTHEST + 1
    sums = torch.zeros(total.shape[0], n_bin, dtype=torch.float64)
    sums.index_add_(1, bins, total[:, near].double())
    tally.profile[heads] += fixed(sums.numpy())
    cells = (visible & batch.real[:, None, :] & batch.asks[:, :, None]).sum(dim=0)
    seen = np.bincount(bins.numpy(), weights=cells[near].numpy(), minlength=n_bin)
    tally.profile_seen[layer] += seen.astype(np.int64)
    corner = slice(0, CORNER)
    first = fixed(total[:, corner, corner].numpy())
    tally.corner[heads, : first.shape[1], : first.shape[2]] += first


def _received(
    weights: Float32[Tensor, "text head query key"],
    batch: TextBatch,
    heads: slice,
    n_entry: int,
) -> WeightSums:
    """The weight that each token gets from all queries of its text, by its entry."""
    got = weights.sum(dim=2).permute(1, 0, 2)[:, batch.real].double().numpy()
    entry, place = batch.entries
    sums = np.zeros((len(got), len(entry)))
    np.add.at(sums.T, place, got.T)
    head = np.arange(heads.start, heads.stop)[:, None]
    count = np.broadcast_to(np.bincount(place), sums.shape)
    return WeightSums((head * n_entry + entry).ravel(), fixed(sums).ravel(), count.ravel())


def _pairs(numbers: CallMeasures, batch: TextBatch, heads: slice, n_entry: int) -> WeightSums:
    """Each query token paired with the key token of its largest weight."""
    ids, asks = batch.ids.numpy(), batch.asks.numpy()
    query = np.broadcast_to(ids[:, None, :], numbers.peak_key.shape)
    key = np.take_along_axis(query, numbers.peak_key, axis=-1)
    head = np.arange(heads.start, heads.stop)[None, :, None]
    counted = np.broadcast_to(asks[:, None, :], query.shape)
    code = ((head * n_entry + query) * n_entry + key)[counted]
    return WeightSums.summed(code, fixed(numbers.peak[counted]), np.ones_like(code))


def _bins(values: Values) -> Int64[np.ndarray, "text head measure"]:
    scaled = np.nan_to_num(values) / upper_ends() * BINS
    return np.asarray(np.clip(scaled.astype(np.int64), 0, BINS - 1))


def _add_histogram(tally: SurveyTally, values: Values) -> None:
    n_head, n_measure, _ = tally.histogram.shape
    cell = np.arange(n_head)[:, None] * n_measure + np.arange(n_measure)
    flat = (cell * BINS + _bins(values))[~np.isnan(values)]
    counts = np.bincount(flat, minlength=tally.histogram.size)
    tally.histogram[:] += counts.reshape(tally.histogram.shape)


def _examples(
    values: Values, tickets: UInt64[np.ndarray, " text"], numbers: Int64[np.ndarray, " text"]
) -> tuple[UInt64[np.ndarray, "..."], Int64[np.ndarray, "..."]]:
    """The smallest tickets of each bin, with the numbers of their texts."""
    n_head, n_measure = values.shape[1:]
    bins, known = _bins(values), ~np.isnan(values)
    drawn = np.full((n_head, n_measure, BINS, EXAMPLES), NO_TICKET, dtype=np.uint64)
    examples = np.full(drawn.shape, -1, dtype=np.int64)
    filled = np.zeros(drawn.shape[:3], dtype=np.int64)
    head, measure = np.indices((n_head, n_measure))
    for text in np.lexsort((numbers, tickets)):  # the smallest come first, and stay
        rank = filled[head, measure, bins[text]]
        free = known[text] & (rank < EXAMPLES)
        where = tuple(axis[free] for axis in (head, measure, bins[text], rank))
        drawn[where], examples[where] = tickets[text], numbers[text]
        filled[head, measure, bins[text]] += known[text]
    return drawn, examples
