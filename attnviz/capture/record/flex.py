"""torch's flex_attention, as one operation: its q, k, v, and the scores that its functions change.

In: the arguments of the operation. Out: `AttentionInputs`, if its functions only mask keys or add
something to the scores, which is tried on scores of 0 and 1; None for any other function.
"""

from collections.abc import Mapping
from typing import Any

import torch

from attnviz.attention.inputs import AttentionInputs

NAME = "flex_attention"
UNKNOWN = "its flex_attention changes scores by a function that the steps do not model"
ARGUMENTS = ("query", "key", "value", "score_mod", "block_mask", "scale")


def inputs(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> AttentionInputs | None:
    """q, k, v, mask and bias of one call; None if its function does more than add."""
    named = dict(zip(ARGUMENTS, args, strict=False)) | dict(kwargs)
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
