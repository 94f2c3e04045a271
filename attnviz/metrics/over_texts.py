"""Roles over many texts: a share with its interval, beside what chance and position alone reach.

In: means over texts with their intervals, or effects of heads on texts; arrays only. Two baselines
stand beside the share of mass that a head puts on a pattern:

    even          the share that even attention to the visible keys would give
    other words   the share that the same weights give to the pattern laid by shuffled tokens:
                  what a habit of positions reaches without looking at words

A role holds if the lower end is at least 0.3 and twice both baselines. A role is a fact about a
head and about texts: repeated random tokens show other roles than stories do.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np
from jaxtyping import Bool, Float64

from attnviz.metrics.measures import SHARES, Share
from attnviz.metrics.patterns import counted_queries
from attnviz.metrics.roles import MIN_COVERAGE, MIN_FRACTION, MIN_RATIO
from attnviz.types import Tokens

CONTENT: tuple[Share, ...] = ("same", "induction")  # patterns that depend on words
SHUFFLES = 3
BOOTSTRAPS = 1000
INTERVAL = (2.5, 97.5)
# a head is dormant if its effect stays below this share of the largest head's
DORMANT_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class Interval:
    """A mean over texts, with the ends of its 95 % interval."""

    mean: Float64[np.ndarray, "*of"]
    low: Float64[np.ndarray, "*of"]
    high: Float64[np.ndarray, "*of"]


@dataclass(frozen=True, eq=False)
class RoleTable:
    """Heads over texts, in the order of the survey's heads.

    `even` is NaN where no text has a pattern, `other_words` for patterns that do not depend on
    words. `coverage` is the share of texts that have a pattern; `holds` is True if the pattern is a
    role of the head.
    """

    patterns: tuple[Share, ...]
    share: Interval
    even: Float64[np.ndarray, "head pattern"]
    other_words: Interval
    coverage: Float64[np.ndarray, "head pattern"]
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


def shuffled_words(tokens: Tokens) -> Iterator[Tokens]:
    """The tokens with the words that ask in other places, `SHUFFLES` times.

    The draws depend on the tokens alone: a text is shuffled alike wherever it stands.
    """
    places = np.flatnonzero(counted_queries(tokens))
    draws = np.random.default_rng(crc32(tokens.ids[~tokens.padding].tobytes()))
    for _ in range(SHUFFLES):
        ids = tokens.ids.copy()
        ids[places] = ids[draws.permutation(places)]
        yield replace(tokens, ids=ids)


def role_table(
    share: Interval,
    even: Float64[np.ndarray, "head pattern"],
    other_words: Interval,
    coverage: Float64[np.ndarray, "head pattern"],
) -> RoleTable:
    """The roles of heads whose means over texts are known, for the patterns of `SHARES`."""
    baseline = np.fmax(even, np.nan_to_num(other_words.high, nan=-np.inf))
    with np.errstate(invalid="ignore"):
        holds = (share.low >= MIN_FRACTION) & (share.low >= MIN_RATIO * baseline)
    return RoleTable(SHARES, share, even, other_words, coverage, holds & (coverage >= MIN_COVERAGE))


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
