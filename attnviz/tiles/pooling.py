"""Weights as bytes on a logarithmic scale, and the largest of neighbouring cells.

In: log weights, −∞ where a query may not attend. Out: codes: 0 for a weight of 0, else 1 to 255 for
weights from 2^−24 to 1 in equal steps of their logarithm, 6.6 % from one code to the next. A linear
scale would lose most of a long text: uniform attention over 16,384 tokens gives 2^−14 each.
Pooling keeps the largest of f×f cells, so that a single large weight is seen at every level.
"""

import math

import numpy as np
import torch
from jaxtyping import Float, Float32, UInt8
from torch import Tensor

OCTAVES = 24
MAX_CODE = 255
STEPS_PER_E = MAX_CODE / (OCTAVES * math.log(2))


def encoded(log_weights: Float[Tensor, "row column"]) -> UInt8[Tensor, "row column"]:
    """The nearest code of each log weight."""
    steps = log_weights.mul(STEPS_PER_E).add_(MAX_CODE + 0.5)
    return steps.clamp_(0, MAX_CODE).to(torch.uint8)


def decoded(codes: UInt8[np.ndarray, "..."]) -> Float32[np.ndarray, "..."]:
    """The weight that each code stands for; at most half a step from the encoded weight."""
    weights = np.exp2(OCTAVES * (codes.astype(np.float32) / MAX_CODE - 1))
    return np.where(codes == 0, np.float32(0), weights)


def bound(code: int) -> float:
    """An upper bound for the weights that have this code, rounding included."""
    return float(2 ** (OCTAVES * ((code + 0.51) / MAX_CODE - 1)))


def pooled(values: Float[Tensor, "row column"], factor: int) -> Float[Tensor, "down across"]:
    """The largest of each factor×factor cells, factor a power of two; fewer cells at the edges.

    Rows first: they are contiguous, and 1/factor of the work is left for the columns.
    """
    values = _filled(values, factor, dim=0)
    step = factor
    while step > 1:
        values = torch.maximum(values[0::2], values[1::2])
        step //= 2
    values = _filled(values, factor, dim=1)
    step = factor
    while step > 1:
        values = torch.maximum(values[:, 0::2], values[:, 1::2])
        step //= 2
    return values


def halved(codes: UInt8[np.ndarray, "row column"]) -> UInt8[np.ndarray, "down across"]:
    """The next level: the largest of each 2×2 codes."""
    rows, columns = codes.shape
    even = np.pad(codes, ((0, rows % 2), (0, columns % 2)))
    down = np.maximum(even[0::2], even[1::2])
    pooled_codes: UInt8[np.ndarray, "down across"] = np.maximum(down[:, 0::2], down[:, 1::2])
    return pooled_codes


def _filled(
    values: Float[Tensor, "row column"], factor: int, dim: int
) -> Float[Tensor, "filled_row filled_column"]:
    """The values, padded with −∞ to a multiple of the factor."""
    missing = -values.shape[dim] % factor
    if not missing:
        return values
    padding = (0, missing) if dim == 1 else (0, 0, 0, missing)
    return torch.nn.functional.pad(values, padding, value=-math.inf)
