"""Measures of every head on every text of a batch, and what chance gives beside them.

In: the weights of one call and the batch's tokens. Out: numbers [text, head, measure], equal to
`metrics.measured` on each text alone; NaN where a text does not have a pattern. The weights
are read as few times as can be: a survey spends most of its time beside the model's here.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float32, Float64, Int64, Shaped
from torch import Tensor

from attnviz.corpus.batch import TextBatch
from attnviz.metrics.measures import SHARES
from attnviz.metrics.over_texts import CONTENT, SHUFFLES
from attnviz.types import MEASURES

N_SHARE, N_CONTENT = len(SHARES), len(CONTENT)


@dataclass(frozen=True, eq=False)
class CallMeasures:
    """One call on a batch of texts.

    `values` has `MEASURES`, `other_words` the shares of `CONTENT` in shuffled words, `even`
    the shares of `SHARES` if the visible keys were attended to evenly. `peak` is the largest weight
    of each query, at `peak_key`, the first of several.
    """

    values: Float64[np.ndarray, "text head measure"]
    other_words: Float64[np.ndarray, "text head content"]
    even: Float64[np.ndarray, "text share"]
    peak: Float32[np.ndarray, "text head query"]
    peak_key: Int64[np.ndarray, "text head query"]


@dataclass(frozen=True, eq=False)
class PatternCells:
    """The cells of each pattern that a call's queries can see, the same for all its heads.

    Most layers of a model share them. Columns are `SHARES`, then `SHUFFLES` × `CONTENT` in shuffled
    words. Few cells belong to a pattern, so they are listed, column by column and text by text:
    `text`, and `place` among the cells of that text; `starts` has where the cells of each column
    and text begin. `n_row` counts the queries that have a key of the pattern. `even` is as in
    `CallMeasures`.
    """

    visible: Bool[Tensor, "#text query key"]
    place: Int64[np.ndarray, " cell"]
    text: Int64[np.ndarray, " cell"]
    starts: Int64[np.ndarray, " group"]
    n_row: Int64[np.ndarray, "column text"]
    even: Float64[np.ndarray, "text share"]

    @classmethod
    def of(cls, visible: Bool[Tensor, "#text query key"], batch: TextBatch) -> "PatternCells":
        """The cells of a call."""
        seen = visible & batch.real[:, None, :] & batch.asks[:, :, None]
        cells = (torch.cat([batch.patterns, batch.shuffled.flatten(0, 1)]) & seen).numpy()
        n_column, n_text, n_query, n_key = cells.shape
        flat = np.flatnonzero(cells)
        row = flat // n_key
        starts = np.searchsorted(row, np.arange(n_column * n_text) * n_query)
        is_first = np.diff(row, prepend=-1) > 0
        n_row = _sums(is_first.astype(np.int64), starts).reshape(n_column, n_text)
        text, place = np.divmod(flat % (n_text * n_query * n_key), n_query * n_key)
        share = 1 / seen.sum(dim=-1).numpy().ravel()[row % (n_text * n_query)]
        even = _sums(share, starts).reshape(n_column, n_text)[:N_SHARE]
        return cls(visible, place, text, starts, n_row, _mean(even, n_row[:N_SHARE]).T)

    def shares(
        self, weights: Float32[Tensor, "text head query key"]
    ) -> Float64[np.ndarray, "text head column"]:
        """The mean share of each pattern over the queries that have one; NaN where none has."""
        n_text, n_head, n_query, n_key = weights.shape
        flat = weights.reshape(-1).numpy()
        first = (self.text * n_head) * (n_query * n_key) + self.place
        total = [
            _sums(flat[first + head * n_query * n_key], self.starts).reshape(-1, n_text)
            for head in range(n_head)
        ]
        return _mean(np.stack(total), self.n_row).transpose(2, 0, 1)


def measured(
    weights: Float32[Tensor, "text head query key"], cells: PatternCells, batch: TextBatch
) -> CallMeasures:
    """The measures of one call's heads; the weights of queries that do not count must be 0."""
    shares = cells.shares(weights)
    peak_key = weights.numpy().argmax(axis=-1)
    peak = np.take_along_axis(weights.numpy(), peak_key[..., None], axis=-1)[..., 0]
    logs = weights.clamp(min=torch.finfo(torch.float32).tiny).log2_()
    entropy = -logs.mul_(weights).sum(dim=(-2, -1)).double().numpy()
    distance = (weights.flatten(2) @ batch.apart.flatten()).double().numpy()
    further = np.stack([entropy, distance, peak.sum(axis=-1, dtype=np.float64)], axis=-1)
    n_asks = batch.asks.sum(dim=-1).numpy()[:, None, None]
    by_shuffle = shares[..., N_SHARE:].reshape(*shares.shape[:-1], SHUFFLES, N_CONTENT)
    return CallMeasures(
        values=np.concatenate([shares[..., :N_SHARE], _mean(further, n_asks)], axis=-1),
        other_words=_known_mean(by_shuffle),
        even=cells.even,
        peak=peak,
        peak_key=peak_key,
    )


def _sums(
    values: Shaped[np.ndarray, " cell"], starts: Int64[np.ndarray, " group"]
) -> Shaped[np.ndarray, " group"]:
    """The sum of the values from each start to the next one; 0 where there is none."""
    ends = np.append(starts[1:], len(values))
    kind = np.int64 if values.dtype == np.int64 else np.float64
    sums = np.zeros(len(starts), dtype=kind)
    filled = ends > starts
    if filled.any():
        sums[filled] = np.add.reduceat(values, starts[filled], dtype=kind)
    return sums


def _mean(
    total: Float64[np.ndarray, "*of"], count: Int64[np.ndarray, "*#of"]
) -> Float64[np.ndarray, "*of"]:
    """The total ÷ the count; NaN where that is 0."""
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _known_mean(
    values: Float64[np.ndarray, "text head shuffle content"],
) -> Float64[np.ndarray, "text head content"]:
    """The mean over the shuffles that have the pattern; NaN where none has."""
    known = ~np.isnan(values)
    return _mean(np.where(known, values, 0.0).sum(axis=-2), known.sum(axis=-2))


assert MEASURES == (*SHARES, "entropy", "distance", "peak")
