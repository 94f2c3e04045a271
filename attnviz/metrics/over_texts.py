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

from attnviz.errors import require_index
from attnviz.metrics.measures import SHARES, Share
from attnviz.metrics.patterns import counted_queries
from attnviz.metrics.roles import MIN_COVERAGE, MIN_FRACTION, MIN_RATIO
from attnviz.summary import counted, text_table
from attnviz.types import Head, HeadId, Tokens, head_row

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
    """Roles of `heads` over texts.

    `even` is NaN where no text has a pattern, `other_words` for patterns that do not depend on
    words. `coverage` is the share of texts that have a pattern; `holds` is True if the pattern is a
    role of the head.
    """

    heads: tuple[HeadId, ...]
    patterns: tuple[Share, ...]
    share: Interval
    even: Float64[np.ndarray, "head pattern"]
    other_words: Interval
    coverage: Float64[np.ndarray, "head pattern"]
    holds: Bool[np.ndarray, "head pattern"]

    def roles(self, head: Head | int) -> tuple[Share, ...]:
        """The roles of one head, the largest share first; none where no pattern holds.

        The head is given by its name, as (layer, head), or as its row. Raises `BadInput` for one
        that is not in the table.
        """
        if isinstance(head, int | np.integer):
            row = require_index("head", head, len(self.heads))
        else:
            row = head_row(head, self.heads, "table")
        held = np.flatnonzero(self.holds[row])
        order = held[np.argsort(-self.share.mean[row, held], kind="stable")]
        return tuple(self.patterns[at] for at in order)

    def to_dict(self) -> dict[str, list[str] | list[float] | list[bool]]:
        """A row for each head and pattern, as lists; NaN where a number has no meaning."""
        intervals = {"share": self.share, "other_words": self.other_words}
        numbers = {
            f"{name}_{bound}": getattr(interval, bound).ravel().tolist()
            for name, interval in intervals.items()
            for bound in ("mean", "low", "high")
        }
        return {
            "head": [str(head) for head in self.heads for _ in self.patterns],
            "pattern": [*self.patterns] * len(self.heads),
            **numbers,
            "even": self.even.ravel().tolist(),
            "coverage": self.coverage.ravel().tolist(),
            "holds": self.holds.ravel().tolist(),
        }

    def __repr__(self) -> str:
        n_held = int(self.holds.any(axis=1).sum())
        size = counted(len(self.heads), "head")
        return f"RoleTable of {size}: {n_held} with a role; print() lists them"

    def __str__(self) -> str:
        """The roles that hold: each with its share, its interval and what chance gives."""
        rows = [
            (row, self.patterns.index(pattern))
            for row, head in enumerate(self.heads)
            for pattern in self.roles(head)
        ]
        share, other = self.share, self.other_words.high
        columns: dict[str, list[str]] = {
            "head": [str(self.heads[row]) for row, _ in rows],
            "role": [self.patterns[at] for _, at in rows],
            "share": [f"{share.mean[at]:.2f}" for at in rows],
            "low": [f"{share.low[at]:.2f}" for at in rows],
            "high": [f"{share.high[at]:.2f}" for at in rows],
            "even": [f"{self.even[at]:.2f}" for at in rows],
            "other words": ["" if np.isnan(other[at]) else f"{other[at]:.2f}" for at in rows],
        }
        return text_table(columns, most=len(rows))


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
    heads: tuple[HeadId, ...],
    share: Interval,
    even: Float64[np.ndarray, "head pattern"],
    other_words: Interval,
    coverage: Float64[np.ndarray, "head pattern"],
) -> RoleTable:
    """The roles of heads whose means over texts are known, for the patterns of `SHARES`."""
    baseline = np.fmax(even, np.nan_to_num(other_words.high, nan=-np.inf))
    with np.errstate(invalid="ignore"):
        holds = (share.low >= MIN_FRACTION) & (share.low >= MIN_RATIO * baseline)
    held = holds & (coverage >= MIN_COVERAGE)
    return RoleTable(heads, SHARES, share, even, other_words, coverage, held)
