"""A circuit that is really cut out: the edges that are kept, and how much of the answer they keep.

In: a frozen `CutOutView` with the whole curve: a slider moves without the server. Out: the number
of edges that a visitor keeps (event `kept`). Beside the circuit, kept alone and cut away alone,
stand as many random edges.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float32

from attnviz.pictures.shared.canvas import INLINE, Canvas

Side = Literal["q", "k", "v"]


@dataclass(frozen=True)
class CutEdge:
    """An edge of the stream: what it changes by coming from the other text.

    `side` is the input of a head that it ends in, None for an MLP or the answer; `exact` is False
    for a change that was only estimated.
    """

    sender: str
    receiver: str
    side: Side | None
    change: float
    exact: bool


@dataclass(frozen=True, eq=False)
class CutOut:
    """The numbers, in no language: the first `edges`, those that matter most first, and the curves.

    `n_exact` of all edges were run, the others only estimated; the two have a correlation.
    `columns` have the nodes in the order of the pass. Curves are shares of the way from the `other`
    text's number to this one's, `before`, at each number of `points`.
    """

    n_edges: int
    n_exact: int
    before: float
    other: float
    least: int | None
    correlation: float
    points: tuple[int, ...]
    columns: tuple[tuple[str, ...], ...]
    edges: tuple[CutEdge, ...]
    faithful: Float32[np.ndarray, "point"]
    complete: Float32[np.ndarray, "point"]
    random_faithful: Float32[np.ndarray, "draw point"]
    random_complete: Float32[np.ndarray, "draw point"]


@dataclass(frozen=True, eq=False)
class CutOutView:
    """The circuit with its texts; `number` names what is measured, `kept` is on the slider."""

    circuit: Annotated[CutOut, INLINE]
    number: str
    sentences: tuple[str, ...]
    kept: int


CANVAS = Canvas("cut_out", (CutOutView,))
