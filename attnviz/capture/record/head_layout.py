"""How batch and heads lie in the axes before query and key, in attention code of a model's own.

In: a module and the shape of its softmax. Out: a `HeadLayout` that brings weights and products into
[batch, head, row, column].
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

HEAD_COUNTS = (
    "num_heads",
    "num_attention_heads",
    "n_heads",
    "n_head",
    "heads",
    "num_attn_heads",
    "n_local_heads",
)


@dataclass(frozen=True)
class HeadLayout:
    """The sizes of the axes before query and key, and the number of heads if the module says it.

    With more than two such axes, a product may have them joined in that order, or with the heads
    moved behind the others.
    """

    lead: tuple[int, ...]
    n_heads: int | None

    def by_head(self, tensor: Tensor) -> Tensor:
        """[batch, head, row, column] of a tensor whose leading axes are these, joined or not."""
        return as_heads(tensor.reshape(*self.lead, *tensor.shape[-2:]), self.n_heads)

    def heads_last(self, tensor: Tensor) -> Tensor:
        """The same if the heads were moved behind the other axes before these were joined."""
        n_heads = as_heads(torch.empty(*self.lead, 1, 1, device="meta"), self.n_heads).shape[1]
        return tensor.reshape(-1, n_heads, *tensor.shape[-2:])


def head_count(module: nn.Module) -> int | None:
    """The number of heads that a module declares; None if it declares none."""
    for name in HEAD_COUNTS:
        count = getattr(module, name, None)
        if isinstance(count, int) and count > 0:
            return count
    return None


def as_heads(weights: Tensor, n_heads: int | None) -> Tensor:
    """[batch, head, query, key] of weights whose leading axes are batch·head, or more of them."""
    n_query, n_key = weights.shape[-2:]
    if weights.dim() == 4:
        return weights
    if weights.dim() == 3:
        heads = n_heads if n_heads and weights.shape[0] % n_heads == 0 else 1
        return weights.reshape(-1, heads, n_query, n_key)
    # windows or patches beside the heads: they join the batch
    axis = next((axis for axis in (1, 2) if weights.shape[axis] == n_heads), 1)
    return weights.movedim(axis, -3).reshape(-1, weights.shape[axis], n_query, n_key)
