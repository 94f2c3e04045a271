"""The running example of lesson 2: four words, four numbers each, two heads of two columns.

In: a seed. Out: X, the matrices of each head, and every step from X to the output, computed by
`attnviz.attention.formula`. Each card of the lesson shows a part of the same computation. The
numbers of seed 0 were made up so that "tired" finds "cat"; other seeds draw small integers.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from jaxtyping import Float64

from attnviz import masks
from attnviz.attention import formula
from attnviz.teach.course.arrays import Matrix, as_numbers
from attnviz.teach.lessons.cards.example_words import ExampleWord

WORDS = tuple(map(ExampleWord, ("the", "cat", "was", "tired")))
N_HEADS, D_HEAD = 2, 2
X = [[1, 0, 0, 1], [0, 2, 0, 1], [0, 0, 1, 1], [1, 0, 2, 0]]
W_Q = (
    [[0, 1], [1, 0], [1, 0], [0, 1]],
    [[1, 0], [0, 1], [1, 1], [0, 0]],
)
W_K = (
    [[0, 1], [1, 0], [0, 0], [1, 0]],
    [[1, 0], [0, 0], [0, 1], [1, 0]],
)
W_V = (
    [[1, 0], [0, 1], [0, 0], [1, 1]],
    [[0, 1], [1, 0], [1, 0], [0, 1]],
)
W_O = [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, -1]]

ToHead = Float64[np.ndarray, "d_model d_head"]
OfHead = Float64[np.ndarray, "word d_head"]
Square = Float64[np.ndarray, "word key"]


@dataclass(frozen=True, eq=False)
class HeadSteps:
    """One head from its matrices to its output; scores without and with the causal mask."""

    w_q: ToHead
    q: OfHead
    k: OfHead
    v: OfHead
    scores: Square
    scaled: Square
    masked: Square
    weights: Square
    mixed: OfHead


@dataclass(frozen=True, eq=False)
class BlockExample:
    """The block: X, its heads, their outputs side by side, and the output after W_O."""

    x: Float64[np.ndarray, "word d_model"]
    heads: tuple[HeadSteps, ...]
    w_o: Float64[np.ndarray, "d_concat d_model"]

    @property
    def concat(self) -> Matrix:
        """The heads' outputs side by side."""
        return np.concatenate([head.mixed for head in self.heads], axis=1)

    @property
    def output(self) -> Matrix:
        """The output of the block, one row for each word."""
        return np.asarray(self.concat @ self.w_o)


@cache
def example(seed: int) -> BlockExample:
    """The example of a seed."""
    draws = np.random.default_rng(seed)

    def matrix(made_up: list[list[int]], largest: int = 1) -> Matrix:
        numbers = np.array(made_up, dtype=np.float64)
        drawn = draws.integers(0, largest + 1, numbers.shape).astype(np.float64)
        return drawn if seed else numbers

    x = matrix(X, largest=2)
    heads = tuple(
        _steps(x, matrix(W_Q[head]), matrix(W_K[head]), matrix(W_V[head]))
        for head in range(N_HEADS)
    )
    return BlockExample(x, heads, matrix(W_O))


def _steps(
    x: Float64[np.ndarray, "word d_model"], w_q: ToHead, w_k: ToHead, w_v: ToHead
) -> HeadSteps:
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    scores = formula.scores(torch.from_numpy(q), torch.from_numpy(k))
    scaled = formula.scaled(scores, 1 / math.sqrt(D_HEAD))
    masked = formula.masked(scaled, masks.causal(len(x), len(x)))
    weights = formula.weights(masked)
    mixed = formula.mixed(weights, torch.from_numpy(v))
    return HeadSteps(w_q, q, k, v, *map(as_numbers, (scores, scaled, masked, weights, mixed)))
