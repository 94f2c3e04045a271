"""Finds the constant s by which a model multiplied a linear layer's output: q = s·(X·W_Q + b_Q).

Some models scale q after its layer and leave the scores as they are (Whisper, OPT), others scale q
and k. In: some rows of every head as the call used them, blocks of a layer's columns, and then all
rows. Out: the block that each head is a multiple of, and s, one number for all heads and tokens;
None if a single number is off by more than rounding explains. s is measured, never looked up.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor

# half steps of a number type: a product is rounded once, and s may itself be a rounded number
HALF_STEPS = 4
TINY = 1e-30
MIN_NUMBERS = 4  # fewer could be proportional by chance

HeadRows = Float32[np.ndarray, "head row d_head"]
BlockRows = Float32[np.ndarray, "block row d_head"]


@dataclass(frozen=True)
class Multiple:
    """Head h is `factor` times block `order[h]`."""

    order: tuple[int, ...]
    factor: float


def find(blocks: BlockRows, after: HeadRows, dtype: torch.dtype) -> Multiple | None:
    """The one factor that leads from a block of its own to every head; None if there is none."""
    order = _parallel(blocks, after)
    if order is None:
        return None
    before, used = blocks[list(order)].astype(np.float64), after.astype(np.float64)
    if np.array_equal(before, used):
        return Multiple(order, 1.0)
    if np.count_nonzero(before) < MIN_NUMBERS or not np.isfinite(before).all():
        return None
    factor = float((before * used).sum() / (before * before).sum())
    rounding = _rounding(dtype)
    limit = rounding * np.abs(used) + torch.finfo(dtype).tiny
    fits = factor != 0 and bool((np.abs(used - factor * before) <= limit).all())
    return Multiple(order, 1.0 if abs(factor - 1) <= rounding else factor) if fits else None


def holds(multiple: Multiple, output: Tensor, tensor: Tensor) -> bool:
    """True if all newest rows of `tensor` [batch, head, token, d_head] are that multiple.

    `output` is what the layer wrote, [batch, token, column], in all rows of the batch.
    """
    used = tensor.detach()[:, :, -output.shape[1] :].float()
    shape = (*output.shape[:2], -1, tensor.shape[-1])
    blocks = output.reshape(shape).transpose(1, 2).float()
    is_in_order = multiple.order == tuple(range(blocks.shape[1]))
    before = blocks if is_in_order else blocks[:, list(multiple.order)]
    limit = used.abs().mul_(_rounding(tensor.dtype)).add_(torch.finfo(tensor.dtype).tiny)
    return bool(((used - before * multiple.factor).abs_() <= limit).all())


def _rounding(dtype: torch.dtype) -> float:
    return HALF_STEPS * torch.finfo(dtype).eps / 2


def _parallel(blocks: BlockRows, after: HeadRows) -> tuple[int, ...] | None:
    """The block with the direction of each head; a layer as wide as all heads has them in order."""
    if len(blocks) == len(after):
        return tuple(range(len(after)))
    if len(blocks) < len(after):
        return None
    flat, heads = (x.reshape(len(x), -1).astype(np.float64) for x in (blocks, after))
    lengths = np.maximum(np.linalg.norm(flat, axis=1), TINY)
    nearest: list[int] = (np.abs(heads @ flat.T) / lengths).argmax(axis=1).tolist()
    return tuple(nearest) if len(set(nearest)) == len(nearest) else None
