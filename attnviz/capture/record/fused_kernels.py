"""A fused kernel of torch as a whole attention: its q, k, v, mask and result.

In: the arguments and the result of the kernel, by name. Out: `AttentionInputs` and weights·V, with
the batch before the heads. Of flex_attention, whose scores functions may change, the inputs if
these only mask keys or add something, which is tried on scores of 0 and 1; None for any other.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from attnviz import masks
from attnviz.attention.inputs import AttentionInputs

FLEX = "flex_attention"
UNKNOWN_FLEX = "its flex_attention changes scores by a function that the steps do not model"
FLEX_ARGUMENTS = ("query", "key", "value", "score_mod", "block_mask", "scale")


def opened(
    arguments: Mapping[str, Any], output: Tensor, *, heads_first: bool
) -> tuple[AttentionInputs, Tensor]:
    """The inputs of one call, and its result [batch, query, head, d_value].

    With `heads_first` the tensors of the kernel are [head, batch, …].
    """
    query, key, value = (arguments[name].detach() for name in ("query", "key", "value"))
    mask = arguments.get("attn_mask", arguments.get("attn_bias"))
    may_attend, bias = masks.from_model(None if mask is None else _with_four_axes(mask.detach()))
    scale = arguments.get("scale")
    # a copy: the model may change it in place
    result = output.detach().clone()
    tensors = [query, key, value, may_attend, bias, result]
    if heads_first:
        tensors = [None if part is None else _heads_second(part) for part in tensors]
    q, k, v, may_attend, bias, result = tensors
    assert q is not None and k is not None and v is not None and result is not None
    inputs = AttentionInputs(
        query=q,
        key=k,
        value=v,
        mask=may_attend,
        causal=bool(arguments.get("is_causal", False)),
        scaling=query.shape[-1] ** -0.5 if scale is None else float(scale),
        bias=bias,
    )
    return inputs, result.transpose(1, 2)


def of_flex(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> AttentionInputs | None:
    """q, k, v, mask and bias of one call; None if its function does more than add."""
    named = dict(zip(FLEX_ARGUMENTS, args, strict=False)) | dict(kwargs)
    query, key, value = (named[name].detach() for name in ("query", "key", "value"))
    n_batch, n_head, n_query = query.shape[:3]
    sizes = (n_batch, n_head, n_query, key.shape[2])
    places = [torch.arange(size, device=query.device) for size in sizes]
    b, h, q, k = torch.meshgrid(*places, indexing="ij")
    try:
        zeros = torch.zeros(sizes, dtype=torch.float32, device=query.device)
        bias = named["score_mod"](zeros, b, h, q, k).expand(sizes).float()
        higher = named["score_mod"](zeros + 1, b, h, q, k).expand(sizes).float()
        mask = named["block_mask"][-1](b, h, q, k).expand(sizes)
    except (RuntimeError, TypeError, IndexError, ValueError, AttributeError):
        return None
    visible = mask & torch.isfinite(bias)
    if not bool(((higher - bias - 1).abs() <= 1e-4)[visible].all()):
        return None
    bias = bias.masked_fill(~visible, 0)
    scale = named.get("scale")
    return AttentionInputs(
        query=query,
        key=key,
        value=value,
        mask=None if bool(visible.all()) else visible,
        causal=False,
        scaling=query.shape[-1] ** -0.5 if scale is None else float(scale),
        bias=bias if bool(bias.any()) else None,
    )


def _with_four_axes(mask: Tensor) -> Tensor:
    """A mask that is given without batch or heads, as one for all of them."""
    return mask.expand(*(1,) * (4 - mask.dim()), *mask.shape)


def _heads_second(tensor: Tensor) -> Tensor:
    """[batch, head, …] of a tensor [head, batch, …] that may have fewer axes."""
    return tensor.transpose(0, 1) if tensor.dim() == 4 else tensor
