"""Scaled dot-product attention, one line of the paper at a time, as pure functions.

    Attention(Q, K, V) = softmax(Q·Kᵀ / √d_k + M)·V          (Vaswani et al. 2017, equation 1)

In: float32 tensors of one or more heads. Out: new float32 tensors; nothing is changed in place.
M is boolean here: True = may attend, and a blocked score becomes −∞. A query that may attend to
no key at all gets weights of zero, as in torch's fused kernel (the paper leaves it undefined).
"""

import math
from contextlib import AbstractContextManager, nullcontext

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def scores(
    q: Float[Tensor, "*head query d_head"], k: Float[Tensor, "*head key d_head"]
) -> Float[Tensor, "*head query key"]:
    """Q·Kᵀ: the dot product of every query with every key."""
    return product(q, k.transpose(-1, -2))


def scaled(
    scores: Float[Tensor, "*head query key"], scaling: float
) -> Float[Tensor, "*head query key"]:
    """The scores times `scaling`, 1/√d_head in most models."""
    return scores * scaling


def capped(
    scaled: Float[Tensor, "*head query key"], softcap: float
) -> Float[Tensor, "*head query key"]:
    """softcap·tanh(scaled / softcap): scores squeezed into ±softcap (Gemma 2, section 2)."""
    return softcap * torch.tanh(scaled / softcap)


def masked(
    scaled: Float[Tensor, "*head query key"], may_attend: Bool[Tensor, "*#head #query #key"] | None
) -> Float[Tensor, "*head query key"]:
    """The scaled scores with −∞ where the query may not attend to the key."""
    return scaled if may_attend is None else scaled.masked_fill(~may_attend, -math.inf)


def weights(
    masked: Float[Tensor, "*head query key"], sink: Float[Tensor, "*#head #query one"] | None = None
) -> Float[Tensor, "*head query key"]:
    """The softmax of each row: the share of its attention that a query gives to each key.

    A `sink` is one more score in each row's sum, without a value: the weights of a row then sum to
    less than 1 (Xiao et al. 2023; gpt-oss).
    """
    if sink is None:
        shares = torch.softmax(masked, dim=-1)
        no_key = masked.amax(dim=-1, keepdim=True) == -math.inf
        return shares.masked_fill_(no_key, 0.0) if no_key.any() else shares
    column = sink.expand(*masked.shape[:-1], 1)
    return torch.softmax(torch.cat([masked, column], dim=-1), dim=-1)[..., :-1]


def normalisers(
    masked: Float[Tensor, "*head query key"], sink: Float[Tensor, "*head #query one"] | None = None
) -> tuple[Float[Tensor, "*head query one"], Float[Tensor, "*head query one"]]:
    """(m, Σ exp(masked − m)) with m the largest score of each row; a `sink` counts in both.

    With these two numbers of a row, `shares` gives any cell of its softmax. One number, the
    log-sum-exp m + log Σ, would lose digits if scores are large. A row that may attend to no key
    has (0, 1), so that its weights are zero.
    """
    peak = masked.amax(dim=-1, keepdim=True)
    if sink is not None:
        peak = torch.maximum(peak, sink)
    peak = peak.masked_fill(peak == -math.inf, 0.0)
    total = torch.sub(masked, peak).exp_().sum(dim=-1, keepdim=True)
    if sink is not None:
        total = total + torch.exp(sink - peak)
    return peak, total.masked_fill_(total == 0, 1.0)


def shares(
    masked: Float[Tensor, "*head query key"],
    peak: Float[Tensor, "*head query one"],
    total: Float[Tensor, "*head query one"],
) -> Float[Tensor, "*head query key"]:
    """exp(masked − peak) / total: cells of the softmax of rows whose `normalisers` are known."""
    return torch.sub(masked, peak).exp_().div_(total)


def sink_gate(
    masked: Float[Tensor, "*head query key"], sink: Float[Tensor, "*head #query one"]
) -> Float[Tensor, "*head query one"]:
    """σ(log Σ exp(masked) − sink): the factor by which a sink reduces each row (Granite).

    Multiplying the row by it equals adding the sink to the softmax's sum.
    """
    return torch.sigmoid(torch.logsumexp(masked, dim=-1, keepdim=True) - sink)


def mixed(
    weights: Float[Tensor, "*head query key"], v: Float[Tensor, "*head key d_value"]
) -> Float[Tensor, "*head query d_value"]:
    """weights·V: each query's weighted average of the values."""
    return product(weights, v)


def product(
    a: Float[Tensor, "*batch row inner"], b: Float[Tensor, "*head inner column"]
) -> Float[Tensor, "*batch row column"]:
    """a·b in the type of both, also inside the caller's torch.autocast, which would round it."""
    with outside_autocast(a):
        return a @ b


def outside_autocast(tensor: Tensor) -> AbstractContextManager[object]:
    """A block outside the caller's torch.autocast, which rounds products and joins few types."""
    is_inside = autocast_type(tensor.device) is not None
    return torch.autocast(tensor.device.type, enabled=False) if is_inside else nullcontext()


def autocast_type(device: torch.device) -> torch.dtype | None:
    """The type in which the caller's torch.autocast has products made; None where there is none.

    Not every kind of device has it.
    """
    kind = device.type
    if not (torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)):
        return None
    return torch.get_autocast_dtype(kind)
