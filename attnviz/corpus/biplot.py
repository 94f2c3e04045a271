"""The biplot of a head: the plane in which inner products are nearest to its scores.

In: recorded calls, as `Moments`: sums over the queries and keys of a layer, which add up over any
number of texts: 2·d² numbers for a head, however many tokens there were. Only words count, not
special tokens or padding: one [CLS] far out would take the first axis of many heads.

Out: a `Biplot`, two linear maps for each head. With S = Q·(K − k̄)ᵀ, scaled, over the tokens that
were counted (keys are centred because the softmax does not notice one number more in a row), the
places x = q·A and y = (k − k̄)·B give Σ (S − x·yᵀ)² its least value: by Eckart and Young x·yᵀ is
the truncated singular value decomposition of S. It follows from the sums alone, as
S = U·(R_qᵀ·R_k)·Wᵀ with Σqqᵀ = R_q·R_qᵀ, Σ(k−k̄)(k−k̄)ᵀ = R_k·R_kᵀ and orthonormal U, W.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.errors import UnsupportedAttention

PLANE = 2
NULL = 1e-9  # of the largest eigenvalue: below it a direction counts as empty
# of the sums before they are centred: keys that are all alike leave so much by rounding
CANCELLED = 1e-12


@dataclass(frozen=True, eq=False)
class Moments:
    """The sums of one layer over `n` tokens: Σq, Σqqᵀ, Σk, Σkkᵀ; `scaling` multiplies q·k.

    `rotated` is True where q and k were turned by a rotary embedding before they met.
    """

    n: int
    scaling: float
    rotated: bool
    query: Float64[np.ndarray, "head d_head"]
    query_square: Float64[np.ndarray, "head d_head d_head"]
    key: Float64[np.ndarray, "kv_head d_head"]
    key_square: Float64[np.ndarray, "kv_head d_head d_head"]

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(
            self.n + other.n,
            self.scaling,
            self.rotated or other.rotated,
            self.query + other.query,
            self.query_square + other.query_square,
            self.key + other.key,
            self.key_square + other.key_square,
        )


def moments(call: AttentionCall, counts: Bool[np.ndarray, "text token"]) -> Moments:
    """The sums over the tokens of a call's texts where `counts` is True.

    Raises `UnsupportedAttention` for a call whose q and k are not known, or differ in tokens.
    """
    inputs = dot_product(call)
    inputs.qkv(0)  # raises if the keys were overwritten since
    chosen = torch.from_numpy(counts).to(inputs.query.device)
    query, query_square = _sums(inputs.query, chosen)
    key, key_square = _sums(inputs.key, chosen)
    return Moments(
        int(counts.sum()), inputs.scaling, is_rotated(call), query, query_square, key, key_square
    )


def dot_product(call: AttentionCall) -> AttentionInputs:
    """The q and k of a call, of the same tokens; raises `UnsupportedAttention` without them."""
    inputs = call.inputs
    if not isinstance(inputs, AttentionInputs) or call.windows is not None:
        reason = "its attention is inside windows" if call.windows else "its q and k are not known"
        raise UnsupportedAttention(
            f"{call.name} has no map of queries and keys: {reason}",
            code="no_map",
            module=call.name,
            reason=reason,
        )
    return inputs


def is_rotated(call: AttentionCall) -> bool:
    """True if a rotary embedding turned the queries or keys of a call."""
    layers = (call.projections.get(stage) for stage in ("q", "k"))
    return any(layer is not None and layer.turned for layer in layers)


def _sums(
    vectors: Tensor, chosen: Tensor
) -> tuple[Float64[np.ndarray, "head d"], Float64[np.ndarray, "head d d"]]:
    """Σv and Σvvᵀ of each head over the chosen tokens of [text, head, token, d]."""
    flat = vectors.transpose(0, 1)[:, chosen].double()  # [head, chosen token, d]
    return flat.sum(dim=1).cpu().numpy(), (flat.transpose(1, 2) @ flat).cpu().numpy()


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
