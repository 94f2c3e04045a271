"""`best_plane`: no other plane comes nearer to the scores, and softmax-blind parts are left out."""

import numpy as np
import pytest

from attnviz.metrics.plane import best_plane, plane_shares

QUERIES, KEYS = 7, 11
RNG = np.random.default_rng(3)
SCORES = RNG.normal(size=(QUERIES, KEYS)).astype(np.float32)


def varying(scores: np.ndarray) -> np.ndarray:
    return scores - scores.mean(axis=1, keepdims=True, dtype=np.float64)


def test_scores_of_a_plane_come_back_whole() -> None:
    scores = RNG.normal(size=(QUERIES, 2)) @ RNG.normal(size=(2, KEYS)) + 5 * np.ones((1, KEYS))
    plane = best_plane(scores)
    np.testing.assert_allclose(plane.queries @ plane.keys.T, varying(scores), atol=1e-12)
    assert plane.share == pytest.approx(1)


def test_no_other_plane_comes_nearer() -> None:
    plane = best_plane(SCORES)
    exact = varying(SCORES)
    error = ((exact - plane.queries @ plane.keys.T) ** 2).sum()
    assert 1 - error / (exact**2).sum() == pytest.approx(plane.share)
    assert plane_shares(SCORES[None]) == pytest.approx([plane.share])
    assert 0 < plane.share < 1
    for _ in range(20):  # the best keys of random queries
        queries = RNG.normal(size=(QUERIES, 2))
        keys = np.linalg.lstsq(queries, exact, rcond=None)[0]
        assert ((exact - queries @ keys) ** 2).sum() > error


def test_one_number_more_in_a_row_changes_nothing() -> None:
    shifted = SCORES + RNG.normal(size=(QUERIES, 1))
    plane, other = best_plane(SCORES), best_plane(shifted)
    np.testing.assert_allclose(plane.keys, other.keys, atol=1e-5)
    np.testing.assert_allclose(plane.queries, other.queries, atol=1e-5)


def test_scores_that_are_all_alike_have_no_share() -> None:
    assert np.isnan(best_plane(np.full((3, 5), 2.5, np.float32)).share)
    alike = np.zeros((QUERIES, KEYS), np.float32)
    infinite = np.where(np.eye(QUERIES, KEYS) > 0, -np.inf, SCORES).astype(np.float32)
    shares = plane_shares(np.stack([alike, SCORES, infinite, 2 * SCORES]))
    assert np.isnan(shares[[0, 2]]).all()
    assert shares[1] == pytest.approx(best_plane(SCORES).share) == pytest.approx(shares[3])


def test_a_single_query_has_one_axis() -> None:
    plane = best_plane(SCORES[:1])
    assert plane.queries.shape == (1, 2) and plane.keys.shape == (KEYS, 2)
    assert plane.queries[0, 1] == 0 and plane.queries[0, 0] > 0
