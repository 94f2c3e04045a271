"""Random queries and keys of many widths, and the softmax of their scores.

In: a width d_k and a seed. Out: measured variances, histograms, entropies and gradients, each of
`N_ROWS` rows. Results of a seed are cached: a slider asks for them again.
"""

import math
from collections.abc import Mapping
from functools import cache

import numpy as np
from jaxtyping import Float64

from attnviz.teach.course.arrays import Matrix, entropy_bits, softmax
from attnviz.teach.lessons.cards.card import Series

WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512)
N_KEYS = 8
N_ROWS = 500
BINS = np.linspace(-40, 40, 81)


@cache
def scores_at(d_k: int, seed: int) -> Float64[np.ndarray, "row key"]:
    """q·k of `N_ROWS` queries with `N_KEYS` keys each; every entry has mean 0 and variance 1."""
    draws = np.random.default_rng((seed, d_k))
    q = draws.normal(size=(N_ROWS, 1, d_k))
    k = draws.normal(size=(N_ROWS, N_KEYS, d_k))
    return np.asarray((q * k).sum(axis=-1))


def score_row(d_k: int, seed: int) -> Matrix:
    """The scores of the first of these queries."""
    return scores_at(d_k, seed)[:1]


def measured_variance(seed: int) -> Mapping[int, float]:
    """The variance of the scores at each width."""
    return {width: float(scores_at(width, seed).var()) for width in WIDTHS}


def spread(name: str, d_k: int, divisor: float, seed: int) -> Series:
    """The fraction of scores in each bin, as a line through the middles of the bins."""
    scores = scores_at(d_k, seed) / divisor
    bins = BINS if divisor == 1 else BINS / 10
    counts, edges = np.histogram(scores, bins=bins)
    return Series(name, (edges[:-1] + edges[1:]) / 2, counts / scores.size)


def gradient_size(weights: Float64[np.ndarray, "row key"]) -> Float64[np.ndarray, "row"]:
    """The Frobenius norm of ∂weights/∂scores = diag(a) − a·aᵀ, for each row."""
    square = (weights**2).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(square - 2 * (weights**3).sum(axis=1) + square**2, 0)))


@cache
def rows_at(
    seed: int,
) -> tuple[Mapping[int, tuple[float, float]], Mapping[int, tuple[float, float]]]:
    """(mean entropy, median slope) by width, each a pair: scores divided by √d_k, and not.

    The median says what happens in a typical row: a few rows that waver between two keys keep a
    large slope, and with it the mean.
    """
    entropy: dict[int, tuple[float, float]] = {}
    gradient: dict[int, tuple[float, float]] = {}
    for width in WIDTHS:
        scores = scores_at(width, seed)
        divided, undivided = softmax(scores / math.sqrt(width)), softmax(scores)
        entropy[width] = _mean(entropy_bits(divided)), _mean(entropy_bits(undivided))
        gradient[width] = _median(gradient_size(divided)), _median(gradient_size(undivided))
    return entropy, gradient


def mean_slope(d_k: int, seed: int) -> float:
    """The mean slope of the undivided scores of a width."""
    return _mean(gradient_size(softmax(scores_at(d_k, seed))))


def _median(values: Float64[np.ndarray, "row"]) -> float:
    return float(np.median(values))


def _mean(values: Float64[np.ndarray, "row"]) -> float:
    return float(values.mean())
