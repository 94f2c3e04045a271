"""Found heads: the clearest heads of a search as small heatmaps, each with share and control.

In: a frozen `FoundView`. Out: an `OpenRequest` when a head was clicked. Where a grid of all heads
stands on the page, it fades the others, and the head that is clicked grows there in place.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Float32

from attnviz.pictures.shared.canvas import Canvas, roots


@dataclass(frozen=True)
class FoundHead:
    """A head, a share of its attention beside its control (0..1), and all of it in words."""

    layer: int
    head: int
    share: float
    control: float
    words: str


@dataclass(frozen=True, eq=False)
class FoundView:
    """The clearest heads; `weights` are theirs, as a single layer. `capture` is what they are of.

    `query` and `key` are the cell that was asked for, None for a pattern. `grows` is True where a
    grid of all heads stands on the page.
    """

    heads: tuple[FoundHead, ...]
    weights: Annotated[Float32[np.ndarray, "_ head query key"], roots(8)]
    capture: str
    query: int | None = None
    key: int | None = None
    grows: bool = False


CANVAS = Canvas("found", (FoundView,))
