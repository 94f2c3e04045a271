"""Position encodings: the sinusoidal table, a learned one, rotary factors.

    PE(pos, 2i) = sin(pos / 10000^(2i/d)),  PE(pos, 2i+1) = cos(pos / 10000^(2i/d))

In: positions and widths. Out: tables of numbers. Sources: Vaswani et al. 2017, section 3.5
(sinusoidal); Radford et al. 2018 (learned); Su et al. 2021, equation 34 (rotary).
"""

from functools import cache

import numpy as np
from jaxtyping import Complex64, Float32, Float64

from attnviz.models.loader import embedded_tensor

BASE = 10_000.0
LLAMA_BASE = 100.0  # of the embedded stories-llama


def angles(positions: int, width: int) -> Float64[np.ndarray, "position column"]:
    """The angles pos / 10000^(2i/d); both columns of a pair share them."""
    pair = np.arange(width) // 2
    return np.asarray(np.arange(positions)[:, None] / BASE ** (2 * pair / width))


def sinusoidal(positions: int, width: int) -> Float64[np.ndarray, "position column"]:
    """The table: sines in even columns, cosines in odd ones."""
    angle, table = angles(positions, width), np.empty((positions, width))
    table[:, 0::2], table[:, 1::2] = np.sin(angle[:, 0::2]), np.cos(angle[:, 1::2])
    return table


@cache
def learned() -> Float32[np.ndarray, "position d_model"]:
    """The table that the embedded `stories` learned, a row for each position."""
    return embedded_tensor("stories", "transformer.wpe.weight")


def before_training() -> Float64[np.ndarray, "position d_model"]:
    """The table with which the training of `stories` began: waves from 2 to 512 tokens long.

    Half of the columns hold sines, half cosines, as `scripts.train.stories` sets them.
    """
    rows, width = learned().shape
    lengths = 2.0 ** np.linspace(1, 9, width // 2)
    turns = 2 * np.pi * np.arange(rows)[:, None] / lengths
    return np.concatenate([np.sin(turns), np.cos(turns)], axis=1)


def rope_factors(
    positions: Float64[np.ndarray, "token"], width: int, base: float = LLAMA_BASE
) -> Complex64[np.ndarray, "token pair"]:
    """exp(i·pos·base^(−2i/d)): the factor of each pair of components in a rotary embedding."""
    theta = base ** (-2 * np.arange(width // 2) / width)
    return np.exp(1j * positions[:, None] * theta[None]).astype(np.complex64)
