"""Correlations by which attributions and estimates are compared with exact changes.

In: two lists of numbers. Out: one from −1 to 1, NaN where one list has no spread; equal numbers
share the mean of their ranks.
"""

import numpy as np
from jaxtyping import Float, Float64


def spearman(left: Float64[np.ndarray, " value"], right: Float64[np.ndarray, " value"]) -> float:
    """Spearman's rank correlation, equal numbers sharing a rank; NaN where one has no spread."""
    left_ranks, right_ranks = mid_ranks(left), mid_ranks(right)
    if np.ptp(left_ranks) == 0 or np.ptp(right_ranks) == 0:
        return float("nan")
    return float(np.corrcoef(left_ranks, right_ranks)[0, 1])


def agreement(
    guess: Float64[np.ndarray, " value"], exact: Float64[np.ndarray, " value"]
) -> tuple[float, float]:
    """(Pearson's correlation, Spearman's of the sizes alone); NaN where one has no spread.

    A high rank correlation can hide that the largest change is misjudged.
    """
    if len(exact) < 2 or not (guess.std() and exact.std()):
        return float("nan"), float("nan")
    return float(np.corrcoef(guess, exact)[0, 1]), spearman(np.abs(guess), np.abs(exact))


def mid_ranks(values: Float[np.ndarray, " value"]) -> Float64[np.ndarray, " value"]:
    """The rank of each value, the mean of their places for equal ones."""
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    means: np.ndarray = ends - (counts + 1) / 2.0
    return means[group]
