"""`normalised` changes no weight, and `rank_correlation` is Spearman's with mean ranks."""

import math

import numpy as np
import pytest

from attnviz.corpus.neighbours import normalised, rank_correlation

N, D = 13, 5


def softmax(scores: np.ndarray) -> np.ndarray:
    shifted = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(shifted / shifted.sum(1, keepdims=True))


def test_normalised_makes_both_equally_long_and_leaves_every_weight() -> None:
    rng = np.random.default_rng(7)
    query, key = rng.normal(size=(N, D)), 9 * rng.normal(size=(N, D)) + 4
    asks, answers = normalised(query, key)
    np.testing.assert_allclose(softmax(asks @ answers.T), softmax(query @ key.T), atol=1e-9)
    np.testing.assert_allclose(asks.mean(0), answers.mean(0), atol=1e-12)
    factor = float((asks / query).mean())
    lengths = [np.median(np.linalg.norm(side, axis=1)) for side in (asks, key / factor)]
    assert lengths[0] == pytest.approx(lengths[1])


@pytest.mark.parametrize("side", [0, 1])
def test_normalised_scales_nothing_where_one_side_is_zero(side: int) -> None:
    pair = [np.ones((N, D)), np.ones((N, D))]
    pair[side] *= 0
    asks, answers = normalised(*pair)
    np.testing.assert_array_equal(asks, pair[0])
    np.testing.assert_array_equal(answers.mean(0), pair[0].mean(0))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 99], 1.0),
        ([1, 2, 3, 4], [4, 3, 2, -9], -1.0),
        ([1, 2, 3, 4], [1, 2, 4, 3], 0.8),  # 1 − 6·(1 + 1) ÷ (4·15)
        ([1, 1, 2], [5, 6, 7], math.sqrt(3) / 2),  # ranks ½ ½ 2 and 0 1 2
    ],
)
def test_rank_correlation_by_hand(one: list[float], other: list[float], expected: float) -> None:
    found = rank_correlation(np.array(one, dtype=float), np.array(other, dtype=float))
    assert found == pytest.approx(expected)


def test_rank_correlation_is_nan_where_one_has_no_order() -> None:
    assert math.isnan(rank_correlation(np.ones(5), np.arange(5.0)))
