"""Roles over many texts: a share with its interval, beside what chance and position alone reach.

In: means over texts with their intervals; arrays only. Two baselines
stand beside the share of mass that a head puts on a pattern:

    even          the share that uniform attention to the visible keys would give
    other words   the share that the same weights give to the pattern laid by shuffled tokens:
                  what a head reaches that attends by position alone

A role holds if the lower end is at least 0.3 and twice each baseline, and a quarter of the texts
have the pattern. A role is a fact about a head and about texts: repeated random tokens show other
roles than stories do.
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
