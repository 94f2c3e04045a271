"""Sums over the queries and keys of a layer: all that the best plane of its heads depends on.

In: recorded calls. Out: `Moments`, which add up over any number of texts: 2·d² numbers for a head,
however many tokens there were. Only words count, not special tokens or padding: one [CLS] far out
would take the first axis of many heads.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float64
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.errors import UnsupportedAttention


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
