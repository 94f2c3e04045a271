"""The largest difference between two numbers that rounding alone explains.

In: the type that the model computes in and the size of the numbers compared. Out: a tolerance. Each
tensor is judged at its own scale, so that a large q or k does not excuse a wrong output:

    tolerance = ROUNDING[type] · largest number + float32's step · sum of the products behind it

The first part is the rounding of what the model wrote, the second that of the dot products, which
matters where large products cancel. Measured over 80 model families, against the largest number of
each tensor: 8e-7 in float32, 8e-4 in float16, 6.6e-3 in bfloat16 (docs/capture.md).
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

# the share of a tensor's largest number by which rounding moves its entries
ROUNDING = {torch.float32: 1e-5, torch.float16: 1e-3, torch.bfloat16: 8e-3}
# the share by which tensors of one model may differ that are compared to find out what made them
MATCHING = {torch.float32: 1e-4, torch.float16: 4e-3, torch.bfloat16: 3e-2}
TOGETHER = 1 << 20  # numbers of all heads that are compared in one go
FLOAT32_STEP = torch.finfo(torch.float32).eps


def rounding(
    dtype: torch.dtype, largest: float, products: float = 0.0, step: float = FLOAT32_STEP
) -> float:
    """The largest difference that rounding explains in a tensor of this type.

    `largest` is the tensor's largest absolute value. `products` bounds the sum of the absolute
    products behind one entry, and `step` is the relative rounding of these products.
    """
    if not (math.isfinite(largest) and math.isfinite(products)):
        return 0.0  # nothing excuses a number that is not one
    floor = torch.finfo(dtype).tiny if dtype in ROUNDING else 0.0
    share = ROUNDING.get(dtype, ROUNDING[torch.float32])
    return share * max(largest, floor) + step * products


def type_tolerance(dtype: torch.dtype) -> float:
    """The share by which two tensors of a model may differ that are taken for the same numbers."""
    return MATCHING.get(dtype, MATCHING[torch.float32])


def largest(tensor: Tensor) -> float:
    """max |x|; 0 of nothing, NaN if any entry is NaN."""
    if not tensor.numel():
        return 0.0
    least, most = torch.aminmax(tensor)
    return float(torch.maximum(-least, most))


def longest(vectors: Tensor) -> float:
    """The largest Euclidean length of the last axis; 0 of nothing."""
    return float(vectors.float().norm(dim=-1).amax()) if vectors.numel() else 0.0


def longest_by_head(vectors: Float[Tensor, "head row column"]) -> list[float]:
    """`longest` of each head."""
    if _is_long(vectors):
        return list(map(longest, vectors))
    return _by_head(torch.linalg.vector_norm(vectors.float(), dim=-1))


def largest_by_head(numbers: Float[Tensor, "head row column"]) -> list[float]:
    """`largest` of each head."""
    if _is_long(numbers):
        return list(map(largest, numbers))
    return _by_head(numbers.float().abs())


def max_difference(ours: Tensor, theirs: Tensor) -> float:
    """max |ours − theirs|; NaN anywhere gives NaN, never a small number."""
    return float((ours - theirs.float()).abs().max())


def max_differences(
    ours: Float[Tensor, "head row column"], theirs: Float[Tensor, "head row column"]
) -> list[float]:
    """`max_difference` of each head."""
    if _is_long(ours):
        return list(map(max_difference, ours, theirs))
    return _by_head((ours - theirs.float()).abs())


def _is_long(numbers: Tensor) -> bool:
    """True for what is looked at head by head, in less memory."""
    return numbers.numel() > TOGETHER


def _by_head(numbers: Float[Tensor, "head *rest"]) -> list[float]:
    """The largest number of each head; 0 of nothing."""
    largest: list[float] = numbers.flatten(1).amax(1).tolist() if numbers.numel() else []
    return largest or [0.0] * len(numbers)
