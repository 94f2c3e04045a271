"""Roles over many texts: a share with its interval, beside what chance and position alone reach.

In: weights and tokens of each text, arrays only; effects of each head on each text. Out: for every
head and pattern the mean share of mass with a 95 % interval over texts, and two baselines:

    even          the share that even attention to the visible keys would give
    other words   the share that the same weights give to the pattern laid by shuffled tokens:
                  what a habit of positions reaches without looking at words

A role holds if the lower end is at least 0.3 and twice both baselines. A role is a fact about a
head and about texts: repeated random tokens show other roles than stories do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float32, Float64

from attnviz.metrics.measures import SHARES, Share, share_keys
from attnviz.metrics.patterns import counted_queries, mean_mass, visible_keys
from attnviz.metrics.roles import MIN_COVERAGE, MIN_FRACTION, MIN_RATIO
from attnviz.types import Tokens

CONTENT: tuple[Share, ...] = ("same", "induction")  # patterns that depend on words
SHUFFLES = 3
BOOTSTRAPS = 1000
INTERVAL = (2.5, 97.5)
# a head is dormant if its effect stays below this share of the largest head's
DORMANT_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class TextShares:
    """One text: shares [head, pattern], both baselines; NaN where it has no such key."""

    share: Float64[np.ndarray, "head pattern"]
    even: Float64[np.ndarray, " pattern"]
    other_words: Float64[np.ndarray, "head pattern"]


@dataclass(frozen=True, eq=False)
class Interval:
    """A mean over texts, with the ends of its 95 % interval (bootstrap)."""

    mean: Float64[np.ndarray, "*of"]
    low: Float64[np.ndarray, "*of"]
    high: Float64[np.ndarray, "*of"]


@dataclass(frozen=True, eq=False)
class RoleTable:
    """Heads over texts. `coverage` is the share of texts that have a pattern; `holds` is True if
    the pattern is a role of the head."""

    patterns: tuple[Share, ...]
    share: Interval
    even: Float64[np.ndarray, " pattern"]
    other_words: Interval
    coverage: Float64[np.ndarray, " pattern"]
    holds: Bool[np.ndarray, "head pattern"]

    def roles(self, head: int) -> tuple[Share, ...]:
        """The roles of one head, the largest share first; none where no pattern holds."""
        held = np.flatnonzero(self.holds[head])
        order = held[np.argsort(-self.share.mean[head, held], kind="stable")]
        return tuple(self.patterns[at] for at in order)


@dataclass(frozen=True, eq=False)
class Awake:
    """The size of each head's effect over texts. A head is `dormant` if the upper end of its
    interval is below 1 % of the largest head's mean."""

    effect: Interval
    dormant: Bool[np.ndarray, " head"]


def text_shares(
    weights: Float32[np.ndarray, "head query key"],
    tokens: Tokens,
    visible: Bool[np.ndarray, "query key"] | None = None,
    patterns: Sequence[Share] = SHARES,
    seed: int = 0,
) -> TextShares:
    """The shares of one text's heads; all layers of one attention at once.

    `visible` is True where a query may attend, as in `metrics.describe`.
    """
    seen, rows = visible_keys(tokens, None, visible), counted_queries(tokens)
    draws = np.random.default_rng(seed)
    share, even, other = [], [], []
    for name in patterns:
        cells = share_keys(name, tokens, None) & seen
        have = rows & cells.any(axis=1)
        share.append(mean_mass(weights, cells, have))
        even.append(_even(cells, seen, have))
        other.append(_other_words(name, weights, tokens, seen, rows, draws))
    return TextShares(
        share=np.stack(share, axis=-1).astype(np.float64),
        even=np.array(even, dtype=np.float64),
        other_words=np.stack(other, axis=-1).astype(np.float64),
    )


def _even(
    cells: Bool[np.ndarray, "query key"],
    seen: Bool[np.ndarray, "query key"],
    rows: Bool[np.ndarray, "query"],
) -> float:
    """The mean share of the cells in even attention to the visible keys; NaN without a row."""
    if not rows.any():
        return float("nan")
    return float((cells[rows].sum(1) / np.maximum(seen[rows].sum(1), 1)).mean())


def _other_words(
    name: Share,
    weights: Float32[np.ndarray, "head query key"],
    tokens: Tokens,
    seen: Bool[np.ndarray, "query key"],
    rows: Bool[np.ndarray, "query"],
    draws: np.random.Generator,
) -> Float64[np.ndarray, " head"]:
    """The mean share of a pattern of words, laid by the same words in other places."""
    nothing = np.full(len(weights), np.nan)
    if name not in CONTENT:
        return nothing
    places, found = np.flatnonzero(rows), []
    for _ in range(SHUFFLES):
        ids = tokens.ids.copy()
        ids[places] = ids[draws.permutation(places)]
        cells = share_keys(name, replace(tokens, ids=ids), None) & seen
        have = rows & cells.any(axis=1)
        if have.any():
            found.append(mean_mass(weights, cells, have).astype(np.float64))
    return np.mean(found, axis=0) if found else nothing


def role_table(
    texts: Sequence[TextShares], patterns: Sequence[Share] = SHARES, seed: int = 0
) -> RoleTable:
    """Roles with intervals over texts; the same head axis in every text."""
    share = bootstrap(np.stack([text.share for text in texts]), seed)
    other = bootstrap(np.stack([text.other_words for text in texts]), seed)
    evens = np.stack([text.even for text in texts])
    has = ~np.isnan(evens)
    coverage = has.mean(0)
    even = np.where(has.any(0), np.nansum(evens, 0) / np.maximum(has.sum(0), 1), np.nan)
    baseline = np.fmax(even, np.nan_to_num(other.high, nan=-np.inf))
    with np.errstate(invalid="ignore"):
        holds = (share.low >= MIN_FRACTION) & (share.low >= MIN_RATIO * baseline)
    return RoleTable(
        tuple(patterns), share, even, other, coverage, holds & (coverage >= MIN_COVERAGE)
    )


def bootstrap(
    values: Float64[np.ndarray, "text *of"], seed: int = 0, count: int = BOOTSTRAPS
) -> Interval:
    """The mean over texts and the middle 95 % of the means of as many texts drawn with return.

    Texts without a value (NaN) are left out of each mean; NaN where no text has one.
    """
    n_text = len(values)
    flat = values.reshape(n_text, -1)
    has = ~np.isnan(flat)
    filled = np.where(has, flat, 0.0)
    draws = np.random.default_rng(seed)
    times = draws.multinomial(n_text, np.full(n_text, 1 / n_text), size=count).astype(np.float64)
    counts = times @ has
    means = np.where(counts > 0, times @ filled / np.maximum(counts, 1), np.nan)
    known = has.any(0)
    low, high = np.full((2, flat.shape[1]), np.nan)
    if known.any():
        low[known], high[known] = np.nanpercentile(means[:, known], INTERVAL, axis=0)
    mean = np.where(known, filled.sum(0) / np.maximum(has.sum(0), 1), np.nan)
    shape = values.shape[1:]
    return Interval(mean.reshape(shape), low.reshape(shape), high.reshape(shape))


def awake(effects: Float64[np.ndarray, "text head"], seed: int = 0) -> Awake:
    """The heads that have an effect over texts: from effects, never from weights.

    A head that rests on the first token is not dormant for that: some of those matter most.
    """
    size = bootstrap(np.abs(effects), seed)
    return Awake(size, size.high < DORMANT_SHARE * np.nanmax(size.mean))
