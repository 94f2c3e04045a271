"""A fused kernel of torch as a whole attention: its q, k, v, mask and result.

In: the arguments and the result of the kernel, by name. Out: `AttentionInputs` and weights·V, with
the batch before the heads.
"""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from attnviz import masks
from attnviz.attention.inputs import AttentionInputs


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


def _with_four_axes(mask: Tensor) -> Tensor:
    """A mask that is given without batch or heads, as one for all of them."""
    return mask.expand(*(1,) * (4 - mask.dim()), *mask.shape)


def _heads_second(tensor: Tensor) -> Tensor:
    """[batch, head, …] of a tensor [head, batch, …] that may have fewer axes."""
    return tensor.transpose(0, 1) if tensor.dim() == 4 else tensor
