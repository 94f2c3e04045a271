"""Numbers of several lessons: tensors as matrices, softmax, entropy, mistakes of a question.

In: torch tensors and numpy matrices of a card. Out: float64 matrices for its panels, and the
mistakes of a number question that differ from its answer.
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
    """A tensor as the matrix of a panel."""
    return values.double().numpy()


def softmax(scores: Matrix) -> Matrix:
    """The weights of each row of scores."""
    return as_numbers(formula.weights(torch.from_numpy(scores)))


def entropy_bits(weights: Float64[np.ndarray, "*row key"]) -> Float64[np.ndarray, "*row"]:
    """−Σ a·log2 a of each row: 0 for one key alone, log2 n for n equal keys."""
    safe = np.where(weights > 0, weights, 1.0)
    return np.asarray(-(weights * np.log2(safe)).sum(axis=-1), dtype=np.float64)


def apart(answer: float, mistakes: Mapping[str, float], tolerance: float) -> dict[str, float]:
    """The mistakes that differ from the answer: random numbers may make some equal to it."""
    return {
        name: value
        for name, value in mistakes.items()
        if math.isfinite(value) and abs(value - answer) > 2 * tolerance
    }
