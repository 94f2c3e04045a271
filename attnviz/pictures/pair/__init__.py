"""Compare: the heads of two sides as heatmaps, and their difference on the axes that both share.

In: a frozen `PairView` with the weights of every head of both sides. Out: a committed selection
when pointer or focus left the canvas with another choice; the right side's head comes with it under
"more" and is read by `parse_other`. Switching heads and pointing cost no message to the server.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Float32

from attnviz.compare import Slot, mean_moved
from attnviz.pictures.shared import numbers
from attnviz.pictures.shared.buffer import Sent, packable
from attnviz.pictures.shared.canvas import INLINE, LOCAL, ROWS, Canvas, derived
from attnviz.pictures.shared.heads import Axes, TokenAxis
from attnviz.pictures.shared.selection import Extent
from attnviz.types import MIB

MAX_EXACT_BYTES = 16 * MIB  # of both sides together, as float32
MAX_WIDE_BYTES = 24 * MIB  # as 16 bits; beyond, 8 bits
OTHER = ("layer_b", "head_b")
OTHER_CELL = ("query_b", "key_b")


@dataclass(frozen=True, eq=False)
class SideView:
    """One side. `at_query` and `at_key` are the first tokens of what stands on its axes.

    `extent` counts tokens, the axes and `weights` count the parts into which they were joined.
    """

    model: str
    queries: Annotated[TokenAxis, LOCAL]
    keys: Annotated[TokenAxis, LOCAL]
    cross: bool
    at_query: tuple[int, ...]
    at_key: tuple[int, ...]
    extent: Annotated[Extent, INLINE]
    weights: Annotated[Float32[np.ndarray, "layer head row column"], LOCAL]

    @derived
    def axes(self) -> Annotated[Axes, INLINE]:
        """The parts that stand on the axes."""
        return Axes.of(self.queries, self.keys, self.cross)


@dataclass(frozen=True, eq=False)
class PairView:
    """Both sides and their common axes; weights are exact while they are few.

    `alike` is True where both have the same layers and heads, so that they can move together;
    `only_heads_differ` where both are one capture of an input that cannot be changed. `moved_rows`
    has for each row of each head how much attention moved, None where that says nothing.
    """

    a: SideView
    b: SideView
    rows: Annotated[tuple[Slot, ...], ROWS]
    cols: Annotated[tuple[Slot, ...], ROWS]
    cross: bool
    merged: bool
    alike: bool
    only_heads_differ: bool
    moved_rows: Float32[np.ndarray, "layer head row"] | None

    @derived
    def moved(self) -> Float32[np.ndarray, "layer head"] | None:
        """The share of attention that moved in each head."""
        return None if self.moved_rows is None else mean_moved(self.moved_rows)

    @derived
    def weights_a(self) -> Sent:
        """The left side's weights [layer, head, row, column]."""
        return self._packed(self.a)

    @derived
    def weights_b(self) -> Sent:
        """The right side's weights [layer, head, row, column]."""
        return self._packed(self.b)

    def _packed(self, side: SideView) -> Sent:
        """A side's weights: exact while both have few, else square roots in 16 or 8 bits."""
        size = self.a.weights.size + self.b.weights.size
        if 4 * size <= MAX_EXACT_BYTES:
            return packable(side.weights, 32)
        return packable(side.weights, 16 if 2 * size <= MAX_WIDE_BYTES else 8)


CANVAS = Canvas("pair", (PairView,))


def parse_other(more: object, extent: Extent) -> dict[str, int | None]:
    """The right side's head as the view keeps it; none, as on the left, where it does not fit."""
    if not isinstance(more, Mapping):
        return dict.fromkeys(OTHER)
    layer, head = (numbers.index(more.get(name))[0] for name in OTHER)
    if layer is None or head is None or layer >= extent.n_layers or head >= extent.n_heads:
        return dict.fromkeys(OTHER)
    return {"layer_b": layer, "head_b": head}


def parse_other_cell(more: object, extent: Extent) -> dict[str, int | None]:
    """Where the chosen cell stands on the right, if the left side has no such tokens."""
    sent = more if isinstance(more, Mapping) else {}
    places = {name: numbers.index(sent.get(name))[0] for name in OTHER_CELL}
    counts = dict(zip(OTHER_CELL, (extent.n_query, extent.n_key), strict=True))
    return {name: None if at is None or at >= counts[name] else at for name, at in places.items()}
