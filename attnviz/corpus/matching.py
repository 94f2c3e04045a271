"""Pairs of heads of two models that behave alike over many texts, found from their surveys.

In: the numbers of two surveys. Out: for each head of the first the nearest head of the second and,
as the control, the median distance of all. The tokenizers may differ: the means of the measures and
the weights by distance are compared, not tokens.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

from attnviz.types import MEASURES, HeadId


@dataclass(frozen=True)
class HeadMatch:
    """The head of the other model that is nearest to `head`.

    `distance` is between their numbers, in standard deviations over all heads of both models;
    `median` is the median distance from `head` to all heads of the other model. `mutual` is True if
    `head` is also the nearest to `other`.
    """

    head: HeadId
    other: HeadId
    distance: float
    median: float
    mutual: bool


@dataclass(frozen=True)
class HeadNumbers:
    """The heads of a survey, the mean of each measure, and the mean weight by distance.

    A mean is NaN where no text has the pattern.
    """

    heads: tuple[HeadId, ...]
    measures: Float64[np.ndarray, "head measure"]
    profile: Float64[np.ndarray, "head distance"]

    def compared(self) -> Float64[np.ndarray, "head number"]:
        """All numbers, the weights as square roots, so that small ones count too."""
        numbers = np.concatenate([self.measures, np.sqrt(self.profile)], axis=1)
        return np.asarray(np.nan_to_num(numbers))


def matches(one: HeadNumbers, other: HeadNumbers) -> tuple[HeadMatch, ...]:
    """The match of each head of a survey among the heads of another, in the order of its heads."""
    apart = _apart(one, other)
    nearest, back = apart.argmin(axis=1), apart.argmin(axis=0)
    return tuple(
        HeadMatch(
            head=head,
            other=other.heads[place],
            distance=float(apart[row, place]),
            median=float(np.median(apart[row])),
            mutual=bool(back[place] == row),
        )
        for row, (head, place) in enumerate(zip(one.heads, nearest.tolist(), strict=True))
    )


def _apart(one: HeadNumbers, other: HeadNumbers) -> Float64[np.ndarray, "head other_head"]:
    """The root mean square difference between each pair of heads, in standard deviations."""
    sides = [side.compared() for side in (one, other)]
    spread = np.concatenate(sides).std(axis=0)
    left, right = (side[:, spread > 0] / spread[spread > 0] for side in sides)
    weight = _weight(spread > 0)
    return np.asarray(np.sqrt(((left[:, None] - right[None]) ** 2 * weight).sum(axis=-1)))


def _weight(used: Bool[np.ndarray, " number"]) -> Float64[np.ndarray, " used"]:
    """The weight of each number: one half for all measures together, one half for all distances."""
    is_measure = np.arange(len(used)) < len(MEASURES)
    parts = np.where(is_measure, 0.5 / max(1, used[is_measure].sum()), 0.0)
    parts += np.where(is_measure, 0.0, 0.5 / max(1, used[~is_measure].sum()))
    return np.asarray(parts[used])
