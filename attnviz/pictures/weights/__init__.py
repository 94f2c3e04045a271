"""Weights: what the weights alone say of each head, and of one head with its controls.

In: a frozen `WeightsView` whose texts are already translated. Out: the selection that a visitor
commits, and a request to open a head. A share lies in −1 to 1 and stands beside that of shuffled
words; a composition beside what random rotations between the two heads give.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float32

from attnviz.pictures.shared.canvas import Canvas

Through = Literal["embedding", "mlp0"]


@dataclass(frozen=True)
class WeightsHead:
    """A head: its name, and where the pages have it."""

    name: str
    layer: int
    head: int


@dataclass(frozen=True)
class CircuitShare:
    """A circuit of the chosen head from token to token, and its eigenvalues.

    `low` to `high` is the share's range in `draws` random orders of the words. Of `n` tokens,
    `first` have their own entry as the largest of their row (by chance 1 of `vocab`), and
    `positive` percent have it above the row's mean; in the random orders these are `positive_low`
    to `positive_high` percent.
    """

    circuit: Literal["OV", "QK"]
    through: Through
    share: float
    low: float
    high: float
    draws: int
    first: int
    vocab: int
    positive: float
    positive_low: float
    positive_high: float
    n: int
    real: tuple[float, ...]
    imaginary: tuple[float, ...]


@dataclass(frozen=True)
class ComposedPair:
    """Another head that the chosen one can read, or that can read it, on the side of q, k or v.

    `value` is the score, the composition; `low` to `high` is what random rotations give: two
    standard deviations around their mean. All `n` pairs of heads of the two layers have this
    `median`; `rank` is the place among them.
    """

    name: str
    side: Literal["q", "k", "v"]
    value: float
    low: float
    high: float
    rank: int
    n: int
    median: float


@dataclass(frozen=True, eq=False)
class WeightsView:
    """All heads, and the chosen one; NaN where a number has no meaning or is not known.

    `ov`, `qk` and their like through MLP 0 are shares, `previous` is the weight that positions
    alone give to the token before, `composed` the largest score with which a head can read an
    earlier one. `weights` has the chosen head's mean weight by distance beside `even`, attention
    spread evenly.
    """

    heads: tuple[WeightsHead, ...]
    ov: Float32[np.ndarray, " head"]
    ov_mlp0: Float32[np.ndarray, " head"]
    qk: Float32[np.ndarray, " head"]
    qk_mlp0: Float32[np.ndarray, " head"]
    previous: Float32[np.ndarray, " head"]
    composed: Float32[np.ndarray, " head"]
    chosen: int
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    shares: tuple[CircuitShare, ...]
    distances: tuple[int, ...]
    weights: Float32[np.ndarray, " distance"]
    even: Float32[np.ndarray, " distance"]
    baseline: float
    reads: tuple[ComposedPair, ...]
    read_by: tuple[ComposedPair, ...]


CANVAS = Canvas("weights", (WeightsView,))
