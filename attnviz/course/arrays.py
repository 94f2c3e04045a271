"""What the recipes of several lessons do with numbers: to numpy and back, entropy, mistakes.

In: torch tensors and numpy matrices of a card. Out: float64 matrices for its panels, and the
mistakes of a number question that its numbers keep apart from the answer.
"""

import math
from collections.abc import Mapping

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from attnviz.attention import formula

Matrix = Float64[np.ndarray, "row column"]


def as_numbers(values: Tensor) -> Matrix:
    """A tensor as a panel shows it."""
    return values.double().numpy()


def softmax(scores: Matrix) -> Matrix:
    """The weights of each row of scores."""
    return as_numbers(formula.weights(torch.from_numpy(scores)))


def entropy_bits(weights: Float64[np.ndarray, "*row key"]) -> Float64[np.ndarray, "*row"]:
    """−Σ a·log2 a of each row: 0 for one key alone, log2 n for n equal keys."""
    safe = np.where(weights > 0, weights, 1.0)
    return np.asarray(-(weights * np.log2(safe)).sum(axis=-1), dtype=np.float64)


def apart(answer: float, mistakes: Mapping[str, float], tolerance: float) -> dict[str, float]:
    """The mistakes that drawn numbers do not happen to make equal to the answer."""
    return {
        name: value
        for name, value in mistakes.items()
        if math.isfinite(value) and abs(value - answer) > 2 * tolerance
    }
