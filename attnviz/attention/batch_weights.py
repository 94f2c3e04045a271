"""The weights of every head of every text of a batch at once, for texts that are short.

In: the inputs of a call. Out: tensors [text, head, query, key] in float32. One head after another
takes longer than a short text, or many of them, can afford; the formulas are the same.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float32
from torch import Tensor

from attnviz import masks
from attnviz.attention import formula
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stored_weights import StoredWeights


def all_weights(
    inputs: AttentionInputs | StoredWeights,
) -> Float32[Tensor, "text head query key"]:
    """The weights as `inputs.weights(head, text)` has them, of every text and kept head."""
    if isinstance(inputs, StoredWeights) or inputs.changes or _sink_of_a_query(inputs):
        texts, heads = range(inputs.n_batch), inputs.kept_heads
        return torch.stack(
            [torch.stack([inputs.weights(head, text) for head in heads]) for text in texts]
        )
    scores = all_scores(inputs)
    may_attend, sink = _may_attend(inputs), None
    if inputs.sinks is not None and not inputs.sinks_gate:
        sink = inputs.sinks.float().reshape(1, -1, 1, 1)
    if sink is not None or inputs.bias is not None:
        return formula.weights(formula.masked(scores, may_attend), sink)
    return _softmax(scores, may_attend)


def all_scores(inputs: AttentionInputs) -> Float32[Tensor, "text head query key"]:
    """The scores before the mask, as `inputs.stages` has them last, of inputs without changes.

    They are scaled, with softcap and bias where the model has them.
    """
    inputs.require_untouched()
    key, n_shared = inputs.key.float(), inputs.n_heads // inputs.n_kv_heads
    if inputs.only is not None:
        key = key[:, list(inputs.only.kv_rows)]
    elif n_shared > 1:
        key = key.repeat_interleave(n_shared, dim=1)
    scores = _products(inputs.query.float(), key).mul_(inputs.scaling)
    if inputs.softcap is not None:
        scores = formula.capped(scores, inputs.softcap)
    if inputs.bias is not None:
        scores = scores + inputs.bias.float()[..., : inputs.n_key]
    return scores


def new_memory(size: Sequence[int], device: torch.device) -> Float32[Tensor, "..."]:
    """Memory for many weights, not filled.

    On a processor numpy is asked: it gets large memory in large pages and torch in small ones, of
    which 12 heads of 512 tokens take 3,000; that takes as long as a third of their weights.
    """
    if device.type != "cpu":
        return torch.empty(*size, dtype=torch.float32, device=device)
    return torch.from_numpy(np.empty(size, dtype=np.float32))


def _products(
    query: Float32[Tensor, "text head query d_head"], key: Float32[Tensor, "#text head key d_head"]
) -> Float32[Tensor, "text head query key"]:
    """`formula.scores`, in memory of `new_memory` where no graph is made."""
    if torch.is_grad_enabled() and (query.requires_grad or key.requires_grad):
        return formula.scores(query, key)
    into = new_memory((*query.shape[:3], key.shape[2]), query.device)
    return torch.matmul(query, key.transpose(-1, -2), out=into)  # autocast rounds none with `out=`


def visible_cells(
    inputs: AttentionInputs | StoredWeights, weights: Float32[Tensor, "text head query key"]
) -> Bool[Tensor, "#text query key"]:
    """True where some head may attend, as `call.visible` has it; a row for all texts if alike."""
    if isinstance(inputs, StoredWeights):
        return (weights > 0).any(dim=1)
    may_attend = _may_attend(inputs)
    if may_attend is None:
        size = inputs.n_query, inputs.n_key
        return torch.ones(1, *size, dtype=torch.bool, device=weights.device)
    cells: Bool[Tensor, "#text query key"] = may_attend.any(dim=1)
    return cells.expand(-1, inputs.n_query, inputs.n_key)


def _softmax(
    scores: Float32[Tensor, "text head query key"],
    may_attend: Bool[Tensor, "#text #head #query #key"] | None,
) -> Float32[Tensor, "text head query key"]:
    """`formula.weights` of masked scores, in fewer passes over them: they are many.

    They are written into the memory of the scores, where no graph needs these.
    """
    into = scores if scores.is_cpu and not scores.requires_grad else None
    if may_attend is None:
        return torch.softmax(scores, dim=-1, out=into)
    blocked = scores.new_zeros(may_attend.shape).masked_fill_(~may_attend, -torch.inf)
    shares = torch.softmax(scores.add_(blocked), dim=-1, out=into)
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


def _sink_of_a_query(inputs: AttentionInputs) -> bool:
    """True if the sinks are not one number for each head."""
    return inputs.sinks is not None and inputs.sinks.dim() != 1
