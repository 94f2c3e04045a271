"""The weights of every head of every text of a batch at once, for texts that are short.

In: a recorded call. Out: tensors [text, head, query, key] in float32. `AttentionCall.weights`
derives one head after another, which many short texts cannot afford; the formulas are the same.
"""

import torch
from jaxtyping import Bool, Float32
from torch import Tensor

from attnviz import masks
from attnviz.attention import formula
from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs


def all_weights(call: AttentionCall) -> Float32[Tensor, "text head query key"]:
    """The weights as `call.weights(None, text)` has them, of every text."""
    inputs = call.inputs
    if not isinstance(inputs, AttentionInputs) or inputs.changes or _sink_of_a_query(inputs):
        return torch.stack([call.weights(None, text) for text in range(call.n_batch)])
    inputs.qkv(0)  # raises if the keys were overwritten since
    key, n_shared = inputs.key.float(), inputs.n_heads // inputs.n_kv_heads
    key = key if n_shared == 1 else key.repeat_interleave(n_shared, dim=1)
    scores = formula.scores(inputs.query.float() * inputs.scaling, key)
    if inputs.softcap is not None:
        scores = formula.capped(scores, inputs.softcap)
    if inputs.bias is not None:
        scores = scores + inputs.bias.float()[..., : inputs.n_key]
    may_attend, sink = _may_attend(inputs), _sink(inputs)
    if sink is not None or inputs.bias is not None:
        return formula.weights(formula.masked(scores, may_attend), sink)
    return _softmax(scores, may_attend)


def visible_cells(
    call: AttentionCall, weights: Float32[Tensor, "text head query key"]
) -> Bool[Tensor, "#text query key"]:
    """True where some head may attend, as `call.visible` has it; a row for all texts if alike."""
    if not isinstance(call.inputs, AttentionInputs):
        return (weights > 0).any(dim=1)
    may_attend = _may_attend(call.inputs)
    if may_attend is None:
        return torch.ones(1, call.n_query, call.n_key, dtype=torch.bool, device=weights.device)
    cells: Bool[Tensor, "#text query key"] = may_attend.any(dim=1)
    return cells.expand(-1, call.n_query, call.n_key)


def _softmax(
    scores: Float32[Tensor, "text head query key"],
    may_attend: Bool[Tensor, "#text #head #query #key"] | None,
) -> Float32[Tensor, "text head query key"]:
    """`formula.weights` of masked scores, in fewer passes over them: they are many."""
    if may_attend is None:
        return torch.softmax(scores, dim=-1)
    blocked = torch.zeros(may_attend.shape, device=scores.device).masked_fill_(
        ~may_attend, -torch.inf
    )
    shares = torch.softmax(scores.add_(blocked), dim=-1)
    no_key = ~may_attend.any(dim=-1, keepdim=True)
    return shares.masked_fill_(no_key, 0.0) if no_key.any() else shares


def _may_attend(inputs: AttentionInputs) -> Bool[Tensor, "#text #head #query #key"] | None:
    stored = None if inputs.mask is None else inputs.mask[..., : inputs.n_key]
    while stored is not None and stored.dim() < 4:
        stored = stored[None]
    if not inputs.causal:
        return stored
    triangle = masks.causal(inputs.n_query, inputs.n_key).to(inputs.query.device)[None, None]
    return triangle if stored is None else triangle & stored


def _sink(inputs: AttentionInputs) -> Float32[Tensor, "one head one one"] | None:
    if inputs.sinks is None or inputs.sinks_gate:
        return None
    return inputs.sinks.float().reshape(1, -1, 1, 1)


def _sink_of_a_query(inputs: AttentionInputs) -> bool:
    """True if the sinks are not one number for each head."""
    return inputs.sinks is not None and inputs.sinks.dim() != 1
