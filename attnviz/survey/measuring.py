"""Measures of every head on every text of a batch, and what chance gives beside them.

In: the weights of one call and the batch's tokens. Out: numbers [text, head, measure], equal to
`metrics.measured` on each text alone; NaN where a text does not have a pattern. The shares of all
patterns are one product: weights [query | head, key] · cells [query | key, pattern].
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float32
from torch import Tensor

from attnviz.metrics.measures import SHARES
from attnviz.metrics.over_texts import CONTENT, SHUFFLES
from attnviz.survey.batch import TextBatch
from attnviz.types import MEASURES

N_SHARE, N_CONTENT = len(SHARES), len(CONTENT)


@dataclass(frozen=True, eq=False)
class CallMeasures:
    """One call on a batch of texts.

    `values` has `MEASURES`, `other_words` the shares of `CONTENT` laid by shuffled words, `even`
    the shares of `SHARES` if the visible keys were attended to evenly. `peak` is the largest weight
    of each query, at `peak_key`.
    """

    values: Float32[Tensor, "text head measure"]
    other_words: Float32[Tensor, "text head content"]
    even: Float32[Tensor, "text share"]
    peak: Float32[Tensor, "text head query"]
    peak_key: Tensor


@dataclass(frozen=True, eq=False)
class PatternCells:
    """The cells of each pattern that a call's queries can see: the same for all its heads, and
    mostly for all layers.

    `columns` has a column for each of `SHARES`, then `SHUFFLES` × `CONTENT` laid by shuffled words,
    then the distance. `rows` is True for the queries that have a key of the pattern. `even` is as
    in `CallMeasures`.
    """

    visible: Bool[Tensor, "#text query key"]
    columns: Float32[Tensor, "column text query key"]
    rows: Bool[Tensor, "pattern text query"]
    even: Float32[Tensor, "text share"]

    @classmethod
    def of(cls, visible: Bool[Tensor, "#text query key"], batch: TextBatch) -> "PatternCells":
        """The cells of a call."""
        seen = visible & batch.real[:, None, :]
        patterns, shuffled = batch.patterns & seen, batch.shuffled & seen
        cells = torch.cat([patterns, shuffled.flatten(0, 1)])
        rows = cells.any(dim=-1) & batch.asks  # [pattern, text, query]
        columns = torch.cat([cells.float(), batch.apart.expand(1, *seen.shape)])
        return cls(visible, columns, rows, _even(patterns, seen, rows[:N_SHARE]))


def measured(
    weights: Float32[Tensor, "text head query key"], cells: PatternCells, batch: TextBatch
) -> CallMeasures:
    """The measures of one call's heads."""
    masses = _masses(weights, cells.columns)
    mean = _mean(masses[..., :-1], cells.rows)
    peak, peak_key = weights.max(dim=-1)
    bits = weights.clamp(min=torch.finfo(torch.float32).tiny).log2_().mul_(weights)
    entropy = -bits.sum(dim=-1)
    further = torch.stack([entropy, masses[..., -1], peak], dim=-1)
    by_shuffle = mean[..., N_SHARE:].reshape(*mean.shape[:-1], SHUFFLES, N_CONTENT)
    every = batch.asks.expand(3, -1, -1)
    return CallMeasures(
        values=torch.cat([mean[..., :N_SHARE], _mean(further, every)], dim=-1),
        other_words=by_shuffle.nanmean(dim=-2),
        even=cells.even,
        peak=peak,
        peak_key=peak_key,
    )


def _masses(
    weights: Float32[Tensor, "text head query key"],
    columns: Float32[Tensor, "column text query key"],
) -> Float32[Tensor, "text head query column"]:
    """Σ over the keys of weight × column, for each column."""
    return torch.einsum("thqk,ctqk->thqc", weights, columns)


def _mean(
    masses: Float32[Tensor, "text head query column"],
    rows: Bool[Tensor, "column text query"],
) -> Float32[Tensor, "text head column"]:
    """The mean over the rows of each column; NaN where a text has none."""
    counted = rows.permute(1, 2, 0)[:, None].float()  # [text, 1, query, column]
    total = (masses * counted).sum(dim=2)
    count = counted.sum(dim=2)
    return torch.where(count > 0, total / count.clamp(min=1), torch.nan)


def _even(
    patterns: Bool[Tensor, "share text query key"],
    seen: Bool[Tensor, "text query key"],
    rows: Bool[Tensor, "share text query"],
) -> Float32[Tensor, "text share"]:
    """The mean share of each pattern in even attention to the visible keys."""
    share = patterns.sum(dim=-1) / seen.sum(dim=-1).clamp(min=1)
    count = rows.sum(dim=-1)
    mean = (share * rows).sum(dim=-1) / count.clamp(min=1)
    return torch.where(count > 0, mean, torch.nan).T


assert MEASURES == (*SHARES, "entropy", "distance", "peak")
