"""The biplot of a head: the plane in which inner products are nearest to its scores.

In: the `Moments` of a layer. Out: a `Biplot`, two linear maps for each head. With S = Q·(K − k̄)ᵀ,
scaled, over the tokens that were counted (keys are centred because the softmax does not notice one
number more in a row), the places x = q·A and y = (k − k̄)·B give Σ (S − x·yᵀ)² its least value: by
Eckart and Young x·yᵀ is the truncated singular value decomposition of S. It follows from the sums
alone, as S = U·(R_qᵀ·R_k)·Wᵀ with Σqqᵀ = R_q·R_qᵀ, Σ(k−k̄)(k−k̄)ᵀ = R_k·R_kᵀ and orthonormal U, W.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float64

from attnviz.corpus.moments import Moments

PLANE = 2
NULL = 1e-9  # of the largest eigenvalue: below it a direction counts as empty
# of the sums before they are centred: keys that are all alike leave so much by rounding
CANCELLED = 1e-12


@dataclass(frozen=True, eq=False)
class Biplot:
    """The planes of one layer's heads.

    `of_query` and `of_key` lead to the plane, `mean_key` is k̄. `kept` is the share of Σ S² that the
    plane keeps, of what tells keys apart; `popularity` the share of Σ S² that every query has in
    common, because all of them point one way. Both are NaN for a head whose scores are all alike.
    """

    of_query: Float64[np.ndarray, "head d_head axis"]
    of_key: Float64[np.ndarray, "head d_head axis"]
    mean_key: Float64[np.ndarray, "head d_head"]
    kept: Float64[np.ndarray, " head"]
    popularity: Float64[np.ndarray, " head"]

    def queries(
        self, query: Float[np.ndarray, "head token d_head"]
    ) -> Float64[np.ndarray, "head token axis"]:
        """The places of queries."""
        return np.asarray(query.astype(np.float64) @ self.of_query)

    def keys(
        self, key: Float[np.ndarray, "head token d_head"]
    ) -> Float64[np.ndarray, "head token axis"]:
        """The places of keys."""
        return np.asarray((key.astype(np.float64) - self.mean_key[:, None]) @ self.of_key)


def biplot(sums: Moments) -> Biplot:
    """The planes of a layer's heads.

    The first axis points where the mean query likes keys, so that pictures do not flip from one
    run to the next.
    """
    n_shared = len(sums.query) // len(sums.key)
    mean = sums.key / sums.n
    centred = sums.key_square - sums.n * mean[:, :, None] * mean[:, None, :]
    left_over = CANCELLED * np.trace(sums.key_square, axis1=1, axis2=2)
    root_q, inverse_q = _root(sums.query_square, np.zeros(len(sums.query)))
    root_k, inverse_k = (np.repeat(root, n_shared, axis=0) for root in _root(centred, left_over))
    left, singular, right = np.linalg.svd(np.swapaxes(root_q, 1, 2) @ root_k)
    factor = np.sqrt(singular[:, None, :PLANE] * abs(sums.scaling))
    of_query = inverse_q @ left[:, :, :PLANE] * factor
    of_key = inverse_k @ np.swapaxes(right, 1, 2)[:, :, :PLANE] * factor
    ahead = np.where(np.einsum("hd,hda->ha", sums.query, of_query) < 0, -1.0, 1.0)[:, None]
    of_key = of_key * np.sign(sums.scaling)
    whole = (singular**2).sum(axis=1)
    average = sums.query / sums.n
    common = np.einsum("hd,hde,he->h", average, np.repeat(centred, n_shared, axis=0), average)
    with np.errstate(invalid="ignore", divide="ignore"):
        kept = (singular[:, :PLANE] ** 2).sum(axis=1) / whole
        popularity = np.where(whole > 0, sums.n * common / whole, np.nan)
    return Biplot(
        of_query * ahead, of_key * ahead, np.repeat(mean, n_shared, axis=0), kept, popularity
    )


def _root(
    square: Float64[np.ndarray, "head d d"], least: Float64[np.ndarray, " head"]
) -> tuple[Float64[np.ndarray, "head d d"], Float64[np.ndarray, "head d d"]]:
    """R with R·Rᵀ = the square, and (Rᵀ)⁻¹; directions up to `least` are empty, 0 in both."""
    values, vectors = np.linalg.eigh(square)
    empty = np.maximum(NULL * values[:, -1:], least[:, None])
    full = values > np.maximum(empty, np.finfo(np.float64).tiny)
    root = np.sqrt(np.where(full, values, 0.0))[:, None, :]
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
    return vectors * root, vectors * inverse
