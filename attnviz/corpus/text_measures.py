"""Measures of every head on every text of a batch, and what chance gives beside them.

In: a capture of several texts, and the weights of one call. Out: a `TextBatch` of what depends only
on the tokens and so serves every head; numbers [text, head, measure], equal to `metrics.measured`
on each text alone, NaN where a text does not have a pattern. Only words count as queries, not
special tokens or padding, as in `metrics.patterns.counted_queries`. The weights are read as few
times as can be: a survey spends most of its time beside the model's here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float32, Float64, Int64, Shaped
from torch import Tensor

from attnviz.attention.capture import Capture
from attnviz.corpus.tally import mean_of
from attnviz.metrics.measures import SHARES, Share, share_keys
from attnviz.metrics.over_texts import CONTENT, SHUFFLES, shuffled_words
from attnviz.metrics.patterns import counted_queries
from attnviz.types import MEASURES, Tokens

N_SHARE, N_CONTENT = len(SHARES), len(CONTENT)


@dataclass(frozen=True, eq=False)
class TextBatch:
    """The tokens of some texts, padded to one length.

    `asks` is True for the queries that count, `real` for all tokens but padding. `patterns` are the
    cells of `SHARES`; `shuffled` are the cells of `CONTENT` in `SHUFFLES` shuffles of the words.
    """

    ids: Int64[Tensor, "text token"]
    real: Bool[Tensor, "text token"]
    asks: Bool[Tensor, "text token"]
    patterns: Bool[Tensor, "pattern text query key"]
    shuffled: Bool[Tensor, "shuffle content text query key"]

    @classmethod
    def of(cls, cap: Capture) -> "TextBatch":
        """The batch of a capture of texts."""
        texts = [cap.tokens_of(row) for row in range(cap.n_batch)]
        draws = map(shuffled_words, texts)  # of each text, whatever stands beside it
        return cls(
            ids=torch.from_numpy(np.stack([tokens.ids for tokens in texts])),
            real=torch.from_numpy(np.stack([~tokens.padding for tokens in texts])),
            asks=torch.from_numpy(np.stack([counted_queries(tokens) for tokens in texts])),
            patterns=torch.from_numpy(_cells(texts, SHARES)),
            shuffled=torch.from_numpy(
                np.stack([_cells(drawn, CONTENT) for drawn in zip(*draws, strict=True)])
            ),
        )

    @property
    def n_text(self) -> int:
        """The number of texts."""
        return self.ids.shape[0]

    @property
    def n_token(self) -> int:
        """The number of tokens of the longest text."""
        return self.ids.shape[1]

    @cached_property
    def entries(self) -> tuple[Int64[np.ndarray, " entry"], Int64[np.ndarray, " token"]]:
        """The ids that occur, and for each token its place among them; padding is left out."""
        entry, place = np.unique(self.ids[self.real].numpy(), return_inverse=True)
        return entry, place

    @property
    def apart(self) -> Float32[Tensor, "query key"]:
        """The distance from each query to each key, in tokens."""
        place = torch.arange(self.n_token, dtype=torch.float32)
        return (place[None, :] - place[:, None]).abs()


def _cells(
    texts: Sequence[Tokens], patterns: tuple[Share, ...]
) -> Bool[np.ndarray, "pattern text query key"]:
    return np.stack(
        [np.stack([share_keys(name, tokens, None) for tokens in texts]) for name in patterns]
    )


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
        return cls(visible, place, text, starts, n_row, mean_of(even, n_row[:N_SHARE]).T)

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
        return mean_of(np.stack(total), self.n_row).transpose(2, 0, 1)


def call_measures(
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
    known = ~np.isnan(by_shuffle)  # the shuffles that have the pattern
    return CallMeasures(
        values=np.concatenate([shares[..., :N_SHARE], mean_of(further, n_asks)], axis=-1),
        other_words=mean_of(np.where(known, by_shuffle, 0.0).sum(axis=-2), known.sum(axis=-2)),
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


assert MEASURES == (*SHARES, "entropy", "distance", "peak")
