"""Compare: the heads of two sides as heatmaps, and their difference on the axes that both share.

In: a frozen `PairView` with the weights of every head of both sides, packed once by `pack_pair`
(cache the bytes: equal bytes are not sent again). Out of `show_pair`: a committed selection when
pointer or focus left the component with another choice; the right side's head comes with it under
"more" and is read by `parse_other`. Switching heads and pointing cost no message to the server.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float32

from attnviz.compare.token_pairs import Slot, mean_moved
from attnviz.components import numbers
from attnviz.components.buffer import Lower, Packable, pack, packable
from attnviz.components.heads import PICKER_KEYS, TokenAxis, axes_header
from attnviz.components.selection import Extent
from attnviz.types import MIB

NAME = "attnviz.pair"
MAX_EXACT_BYTES = 16 * MIB  # of both sides together, as float32
MAX_WIDE_BYTES = 24 * MIB  # as 16 bits; beyond, 8 bits
OTHER = ("layer_b", "head_b")
OTHER_CELL = ("query_b", "key_b")
Letter = Literal["a", "b"]
STRING_KEYS: tuple[str, ...] = (
    "shared.query_axis",
    "shared.key_axis",
    "shared.scale",
    "shared.scale_linear",
    "shared.scale_sqrt",
    "shared.scale_log",
    "shared.colour_bar",
    *PICKER_KEYS,
    "pair.canvas",
    "pair.canvas_difference",
    "pair.difference",
    "pair.link",
    "pair.grid",
    "pair.grid_note",
    "pair.grid_bar",
    "pair.cell",
    "pair.summary",
    "pair.no_rows",
    "pair.most",
    "pair.most_label",
    "pair.limit",
    "pair.no_difference",
    "pair.difference_bar",
    "pair.only_a",
    "pair.only_b",
    "pair.replaced",
    "pair.and_more",
    "pair.merged",
    "pair.approximate",
    "pair.readout",
    "pair.readout_a",
    "pair.readout_b",
    "pair.readout_none",
    "pair.readout_row",
    "pair.readout_lone",
    "pair.readout_idle",
    "pair.hint",
)


@dataclass(frozen=True, eq=False)
class SideView:
    """One side. `at_query` and `at_key` are the first tokens of what stands on its axes.

    `extent` counts tokens, the axes and `weights` count the parts into which they were joined.
    """

    model: str
    queries: TokenAxis
    keys: TokenAxis
    at_query: tuple[int, ...]
    at_key: tuple[int, ...]
    extent: Extent
    weights: Float32[np.ndarray, "layer head row column"]


@dataclass(frozen=True, eq=False)
class PairView:
    """Both sides and their common axes.

    `alike` is True where both have the same layers and heads, so that they can move together;
    `identical` where both are one capture, so that only two of its heads can differ. `moved` has
    for each row of each head how much attention moved, None where that says nothing.
    """

    a: SideView
    b: SideView
    rows: tuple[Slot, ...]
    cols: tuple[Slot, ...]
    cross: bool
    merged: bool
    alike: bool
    identical: bool
    moved: Float32[np.ndarray, "layer head row"] | None


def pack_pair(view: PairView, strings: Mapping[str, str]) -> bytes:
    """The buffer of a view: exact weights while they are few, else square roots in 16 or 8 bits."""
    size = view.a.weights.size + view.b.weights.size
    arrays: dict[str, Packable | Lower] = {
        f"weights_{name}": _packed(side.weights, size) for name, side in _sides(view)
    }
    if view.moved is not None:
        arrays |= {"moved": mean_moved(view.moved), "moved_rows": view.moved}
    sides: dict[str, object] = {name: _side_header(side, view.cross) for name, side in _sides(view)}
    header: dict[str, object] = {
        "strings": dict(strings),
        **sides,
        "rows": [_slot(slot) for slot in view.rows],
        "cols": [_slot(slot) for slot in view.cols],
        "cross": int(view.cross),
        "merged": int(view.merged),
        "alike": int(view.alike),
        "identical": int(view.identical),
    }
    return pack(header, arrays)


def _sides(view: PairView) -> tuple[tuple[Letter, SideView], tuple[Letter, SideView]]:
    return ("a", view.a), ("b", view.b)


def _packed(weights: Float32[np.ndarray, "layer head row column"], size: int) -> Packable | Lower:
    if 4 * size <= MAX_EXACT_BYTES:
        return packable(weights, 32)
    return packable(weights, 16 if 2 * size <= MAX_WIDE_BYTES else 8)


def _side_header(side: SideView, cross: bool) -> dict[str, object]:
    extent = side.extent
    return {
        "model": side.model,
        **axes_header(side.queries, side.keys, cross),
        "at_query": list(side.at_query),
        "at_key": list(side.at_key),
        "n_layers": side.weights.shape[0],
        "n_heads": side.weights.shape[1],
        "n_query": extent.n_query,
        "n_key": extent.n_key,
    }


def _slot(slot: Slot) -> list[int]:
    """[part of A or -1, part of B or -1, whether they are equal]."""
    a, b = (-1 if part is None else part for part in (slot.a, slot.b))
    return [a, b, int(slot.same)]


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
