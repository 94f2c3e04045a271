"""The best plane of a head: points whose inner products are nearest to its scores.

In: scores [query, key] before the mask. Out: two numbers for each query and for each key. The mean
of each row is taken away first, because the softmax does not notice it; of what is left, S, the
truncated singular value decomposition gives the x and y with the least Σ (S − x·yᵀ)² (Eckart and
Young 1936). As a picture of rows and columns together it is a biplot (Gabriel 1971).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Float, Float64

PLANE: Final = 2
NULL: Final = 1e-12  # of the scores' own squares: below it nothing but rounding is left


@dataclass(frozen=True, eq=False)
class Plane:
    """Places of queries and keys; `share` is the share of Σ S² that the plane keeps.

    `share` is NaN where all scores of each row are alike.
    """

    queries: Float64[np.ndarray, "query axis"]
    keys: Float64[np.ndarray, "key axis"]
    share: float


def best_plane(scores: Float[np.ndarray, "query key"]) -> Plane:
    """The plane of one head; singular values are shared evenly between queries and keys.

    The first axis points where the mean query lies, so that pictures do not flip from run to run.
    """
    varying = _varying(scores)
    left, singular, right = np.linalg.svd(varying, full_matrices=False)
    root = np.sqrt(singular[:PLANE])
    queries, keys = left[:, :PLANE] * root, right[:PLANE].T * root
    ahead = np.where(queries.mean(axis=0) < 0, -1.0, 1.0)
    share = float(_shares(singular[None], scores[None])[0])
    missing = ((0, 0), (0, PLANE - len(root)))  # a single query or key has one axis
    return Plane(np.pad(queries * ahead, missing), np.pad(keys * ahead, missing), share)


def plane_shares(scores: Float[np.ndarray, "head query key"]) -> Float64[np.ndarray, " head"]:
    """The share of each head's variation of scores that its best plane keeps; NaN without any.

    Scores that a bias makes infinite have none either.
    """
    finite = np.isfinite(scores).all(axis=(1, 2))
    known = np.where(finite[:, None, None], scores, 0.0)
    shares = _shares(np.linalg.svd(_varying(known), compute_uv=False), known)
    return np.asarray(np.where(finite, shares, np.nan))


def _varying(
    scores: Float[np.ndarray, "*head query key"],
) -> Float64[np.ndarray, "*head query key"]:
    exact = scores.astype(np.float64)
    return np.asarray(exact - exact.mean(axis=-1, keepdims=True))


def _shares(
    singular: Float64[np.ndarray, "head value"], scores: Float[np.ndarray, "head query key"]
) -> Float64[np.ndarray, " head"]:
    squares = singular**2
    whole = squares.sum(axis=1)
    size = np.maximum((scores.astype(np.float64) ** 2).sum(axis=(1, 2)), np.finfo(float).tiny)
    is_some = whole > NULL * size
    kept = squares[:, :PLANE].sum(axis=1)
    return np.asarray(np.divide(kept, whole, out=np.full_like(whole, np.nan), where=is_some))
