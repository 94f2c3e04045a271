"""`biplot` and `Moments`: the plane of a head is the truncated SVD of its scores."""

import numpy as np
import pytest

from attnviz.corpus.biplot import PLANE, Biplot, Moments, biplot

N, D, N_HEADS, N_KV = 23, 5, 6, 2
Vectors = tuple[np.ndarray, np.ndarray]


def vectors(seed: int = 3) -> Vectors:
    """q [head, token, d] and k [kv_head, token, d], both far from the origin."""
    rng = np.random.default_rng(seed)
    query = rng.normal(size=(N_HEADS, N, D)) + 1.5
    return query, rng.normal(size=(N_KV, N, D)) - 2.5


def moments_of(query: np.ndarray, key: np.ndarray, scaling: float = 0.5) -> Moments:
    def sums(v: np.ndarray) -> Vectors:
        return v.sum(1), np.einsum("htd,hte->hde", v, v)

    return Moments(query.shape[1], scaling, False, *sums(query), *sums(key))


def scores(query: np.ndarray, key: np.ndarray, head: int, scaling: float) -> np.ndarray:
    shared = key[head // (N_HEADS // N_KV)]
    return scaling * query[head] @ (shared - shared.mean(0)).T


def products(plane: Biplot, query: np.ndarray, key: np.ndarray, head: int) -> np.ndarray:
    shared = np.repeat(key, N_HEADS // N_KV, axis=0)
    return plane.queries(query)[head] @ plane.keys(shared)[head].T


@pytest.mark.parametrize("scaling", [0.5, -0.5])
@pytest.mark.parametrize("head", range(N_HEADS))
def test_inner_products_in_the_plane_are_the_truncated_svd(head: int, scaling: float) -> None:
    query, key = vectors()
    plane = biplot(moments_of(query, key, scaling))
    left, singular, right = np.linalg.svd(scores(query, key, head, scaling))
    best = left[:, :PLANE] * singular[:PLANE] @ right[:PLANE]
    np.testing.assert_allclose(products(plane, query, key, head), best, atol=1e-9)
    share = (singular[:PLANE] ** 2).sum() / (singular**2).sum()
    assert plane.kept[head] == pytest.approx(share)
    common = scores(query, key, head, scaling).mean(0)
    whole = (scores(query, key, head, scaling) ** 2).sum()
    assert plane.popularity[head] == pytest.approx(N * (common**2).sum() / whole)


def test_the_mean_query_points_along_both_axes() -> None:
    query, key = vectors()
    plane = biplot(moments_of(query, key))
    assert (plane.queries(query).mean(1) > 0).all()


def test_heads_whose_keys_are_all_alike_have_no_plane() -> None:
    query, key = vectors()
    key[:] = key[:, :1]
    plane = biplot(moments_of(query, key))
    assert np.isnan(plane.kept).all() and np.isnan(plane.popularity).all()
    np.testing.assert_allclose(plane.queries(query), 0, atol=1e-6)


def test_a_direction_without_any_query_is_left_empty() -> None:
    """A singular sum of squares has no inverse: the plane is that of what is there."""
    query, key = vectors()
    query[:, :, 2] = 0
    plane = biplot(moments_of(query, key))
    assert np.isfinite(plane.of_query).all()
    np.testing.assert_allclose(plane.of_query[:, 2], 0, atol=1e-12)
    left, singular, right = np.linalg.svd(scores(query, key, 0, 0.5))
    best = left[:, :PLANE] * singular[:PLANE] @ right[:PLANE]
    np.testing.assert_allclose(products(plane, query, key, 0), best, atol=1e-9)


def test_moments_of_two_texts_add_up_to_those_of_both() -> None:
    (query, key), (more, others) = vectors(3), vectors(4)
    both = moments_of(np.concatenate([query, more], 1), np.concatenate([key, others], 1))
    added = moments_of(query, key) + moments_of(more, others)
    assert (added.n, added.scaling, added.rotated) == (2 * N, 0.5, False)
    for name in ("query", "query_square", "key", "key_square"):
        np.testing.assert_allclose(getattr(added, name), getattr(both, name))
