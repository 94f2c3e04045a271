"""weights·V while a model is recorded, by torch's fused kernel unless it has a softcap.

In: the arguments of the model's attention function. Out: [batch, query, head, d_value], contiguous,
as transformers expects it. A sink is one more key of the kernel. No fused kernel has a softcap, so
that is computed from the formulas, in blocks of rows.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from attnviz import masks
from attnviz.attention.inputs import AttentionInputs

ROW_BLOCK = 512


def fused(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    kwargs: dict[str, Any],
) -> Tensor:
    """The result of transformers' own call of torch's kernel, position bias included."""
    if mask is not None and mask.dtype != torch.bool:
        mask = mask.to(query.dtype)
    output: Tensor = sdpa_attention_forward(
        module,
        query,
        key,
        value,
        mask,
        dropout=kwargs.get("dropout", 0.0),
        scaling=kwargs.get("scaling"),
        is_causal=causal,
        position_bias=kwargs.get("position_bias"),
    )[0]
    return output


def by_own_function(
    eager: Callable[..., Any],
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    kwargs: dict[str, Any],
) -> Tensor:
    """The result of the model's own eager function, which takes a mask of numbers to add."""
    lowest = torch.finfo(query.dtype).min
    if causal:
        mask = masks.causal(query.shape[2], key.shape[2]).to(query.device)[None, None]
    if mask is not None and mask.dtype == torch.bool:
        mask = query.new_zeros(mask.shape).masked_fill(~mask, lowest)
    output: Tensor = eager(module, query, key, value, mask, **kwargs)[0]
    return output


def explicit(inputs: AttentionInputs) -> Tensor:
    """weights·V from the formulas, in blocks of rows: O(n) memory at a time."""
    n_head, n_query = inputs.query.shape[1:3]
    output = inputs.value.new_empty(inputs.n_batch, n_query, n_head, inputs.value.shape[-1])
    for batch in range(inputs.n_batch):
        for head in range(n_head):
            for start in range(0, n_query, ROW_BLOCK):
                rows = slice(start, start + ROW_BLOCK)
                mixed = inputs.stages(head, batch, rows=rows)["mixed"]
                output[batch, rows, head] = mixed.to(output.dtype)
    return output


def fused_with_sinks(inputs: AttentionInputs) -> Tensor:
    """The result of torch's kernel with one more key: its score is the sink, its value 0."""
    query, n_kv = inputs.query, inputs.key.shape[1]
    n_head, n_query = query.shape[1:3]
    key, value = (
        functional.pad(tensor.repeat_interleave(n_head // n_kv, dim=1), (0, 0, 0, 1))
        for tensor in (inputs.key, inputs.value)
    )
    n_key = inputs.key.shape[2]
    shape = (inputs.n_batch, n_head, n_query, n_key)
    added = query.new_zeros(1, 1, n_query, n_key) if inputs.bias is None else inputs.bias
    if inputs.causal:
        blocked = ~masks.causal(n_query, n_key).to(query.device)
        added = added.masked_fill(blocked, -torch.inf)
    if inputs.mask is not None:
        added = added.masked_fill(~inputs.mask[..., :n_key], -torch.inf)
    assert inputs.sinks is not None
    sinks = inputs.sinks.reshape(1, -1, 1, 1) if inputs.sinks.dim() == 1 else inputs.sinks
    with_sink = torch.cat([added.expand(shape), sinks.expand(*shape[:3], 1)], dim=-1)
    output = functional.scaled_dot_product_attention(
        query, key, value, attn_mask=with_sink.to(query.dtype), scale=inputs.scaling
    )
    return output.transpose(1, 2).contiguous()
