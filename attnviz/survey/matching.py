"""Pairs of heads of two models that behave alike over many texts, found from their surveys.

In: two surveys. Out: for each head of the first the nearest head of the second and, as the control,
the median distance of all. The tokenizers may differ: the means of the measures and the weights by
distance are compared, not tokens.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float64

from attnviz.types import MEASURES, HeadId

if TYPE_CHECKING:
    from attnviz.survey.result import Survey


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


def matches(survey: "Survey", other: "Survey") -> tuple[HeadMatch, ...]:
    """The match of each head of a survey among the heads of another, in the order of its heads."""
    apart = _apart(survey, other)
    nearest, back = apart.argmin(axis=1), apart.argmin(axis=0)
    return tuple(
        HeadMatch(
            head=head,
            other=other.heads[place],
            distance=float(apart[row, place]),
            median=float(np.median(apart[row])),
            mutual=bool(back[place] == row),
        )
        for row, (head, place) in enumerate(zip(survey.heads, nearest.tolist(), strict=True))
    )


def _apart(survey: "Survey", other: "Survey") -> Float64[np.ndarray, "head other_head"]:
    """The root mean square difference between each pair of heads, in standard deviations."""
    sides = [np.concatenate([_measures(side), _profile(side)], axis=1) for side in (survey, other)]
    spread = np.concatenate(sides).std(axis=0)
    one, two = (side[:, spread > 0] / spread[spread > 0] for side in sides)
    weight = _weight(spread > 0)
    return np.asarray(np.sqrt(((one[:, None] - two[None]) ** 2 * weight).sum(axis=-1)))


def _weight(used: Bool[np.ndarray, " number"]) -> Float64[np.ndarray, " used"]:
    """The weight of each number: one half for all measures together, one half for all distances."""
    is_measure = np.arange(len(used)) < len(MEASURES)
    parts = np.where(is_measure, 0.5 / max(1, used[is_measure].sum()), 0.0)
    parts += np.where(is_measure, 0.0, 0.5 / max(1, used[~is_measure].sum()))
    return np.asarray(parts[used])


def _measures(survey: "Survey") -> Float64[np.ndarray, "head measure"]:
    """The mean of each measure; 0 where no text has the pattern."""
    table = survey.table()
    return np.stack([np.nan_to_num(table[name].astype(np.float64)) for name in MEASURES], axis=1)


def _profile(survey: "Survey") -> Float64[np.ndarray, "head distance"]:
    """The mean weight by distance, as square roots, so that small weights count too."""
    by_head = np.stack([survey.profile(head) for head in survey.heads])
    return np.asarray(np.sqrt(np.nan_to_num(by_head)))
