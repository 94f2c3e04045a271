"""Scaled dot-product attention, one line of the paper at a time, as pure functions.

    Attention(Q, K, V) = softmax(Q·Kᵀ / √d_k + M)·V          (Vaswani et al. 2017, equation 1)

In: float32 tensors of one or more heads. Out: new float32 tensors; nothing is changed in place.
M is boolean here: True = may attend, and a blocked score becomes −∞. A query that may attend to
no key at all gets weights of zero, as torch's fused kernel gives (the paper leaves it undefined).
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.attention.edits import Edit, of_stage


def edited(
    stage: str,
    values: Float[Tensor, "row column"],
    edits: Sequence[Edit],
    opened: Float[Tensor, "row column"] | None = None,
) -> Float[Tensor, "row column"]:
    """A stage with entries changed by hand: a copy where there are any, else the tensor itself.

    `opened` has the scores before the mask, which a row of `masked` gets when it is opened.
    """
    mine = of_stage(edits, stage, *values.shape)
    if not mine:
        return values
    copy = values.clone()
    for edit in mine:
        if edit.column is not None:
            copy[edit.row, edit.column] = edit.value
        elif edit.value < 0 or opened is None:
            copy[edit.row] = -math.inf
        else:
            copy[edit.row] = opened[edit.row]
    return copy


def scores(
    q: Float[Tensor, "*head query d_head"], k: Float[Tensor, "*head key d_head"]
) -> Float[Tensor, "*head query key"]:
    """Q·Kᵀ: the dot product of every query with every key."""
    return q @ k.transpose(-1, -2)


def scaled(
    scores: Float[Tensor, "*head query key"], scaling: float
) -> Float[Tensor, "*head query key"]:
    """The scores times `scaling`, which is 1/√d_head unless the model says otherwise."""
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
    masked: Float[Tensor, "*head query key"], sink: Float[Tensor, "*head #query one"] | None = None
) -> Float[Tensor, "*head query key"]:
    """The softmax of each row: what share of its attention a query gives to each key.

    A `sink` is one more score in each row's sum: it takes its share and gives nothing, so that
    the weights of a row then sum to less than 1 (Xiao et al. 2023; gpt-oss).
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
    """(m, Σ exp(masked − m)) with m the largest score of each row; a `sink` takes part in both.

    The two are what the softmax needs of a row: with them `shares` gives any cell by itself. Their
    one-number form, the log-sum-exp m + log Σ, would lose digits where scores are large. A row
    that may attend to no key has (0, 1), so that its weights are zero.
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
    """σ(log Σ exp(masked) − sink): what a sink leaves to a row whose weights sum to 1 (Granite).

    Gating the row is the same as putting the sink into the softmax's sum.
    """
    return torch.sigmoid(torch.logsumexp(masked, dim=-1, keepdim=True) - sink)


def mixed(
    weights: Float[Tensor, "*head query key"], v: Float[Tensor, "*head key d_value"]
) -> Float[Tensor, "*head query d_value"]:
    """weights·V: each query's weighted average of the values."""
    return weights @ v
