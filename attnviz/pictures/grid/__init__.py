"""Overview grid: every head of a model as a small heatmap, the one under the pointer enlarged.

In: a `HeadsView` with small pictures. Out: a committed `Selection` when pointer or focus left the
canvas with another head chosen, an `OpenRequest` when a head was clicked. Pointing at heads and
moving the cursor cost no message to the server. Of a text too long to send all cells at first, or
ever, each point of a small picture is the largest weight of a square, so that no peak is lost.
Where all heads together have more weights than a browser gets at once, these points are all that is
sent; else all weights of one head come with them, and those of the others later (`pictures.rest`).
Roles and measures are found from all weights.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.pictures.group import groups, heads
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.axes import token_axes
from attnviz.pictures.group.groups import MAX_POINTS, Group, GroupSize
from attnviz.pictures.group.measures import Measured
from attnviz.pictures.group.titles import model_title
from attnviz.pictures.shared.canvas import Canvas
from attnviz.pictures.shared.heads import First, HeadsView, Pooled, TokenAxis
from attnviz.types import HeadId

CANVAS = Canvas("grid", (HeadsView,))
Matrices = Float32[np.ndarray, "_ _ _"] | Bool[np.ndarray, "_ _ _"]
MORE = " …"  # after the first token of several
MAX_FIRST_CELLS = 2 * 2**20  # weights of all heads that are sent before any picture, a byte each
MAX_SQUARE = 64  # points along a side of the small pictures that come before


def overview(shown: PageContext, measured: Measured | None) -> HeadsView:
    """All heads of a group, each point the largest weight of a square, with every measure."""
    extent, side = shown.size.extent, square_side(shown.size)
    queries, keys = (_pooled_axis(axis, side) for axis in token_axes(shown))
    return HeadsView(
        model=model_title(shown.lang, shown.captured.name),
        queries=queries,
        keys=keys,
        cross=shown.group.cross,
        sentences=() if measured is None else heads.sentences(shown, measured),
        weights=groups.placed(shown.group, pooled_layers(shown.group, side)),
        measures=() if measured is None else heads.measures(shown.lang, measured),
        visible=_pooled_masks(shown.group, side),
        pooled=Pooled(side, extent.n_query, extent.n_key),
        small=True,
        capture=heads.capture_name(shown),
        kept=shown.group.kept,
    )


def comes_first(size: GroupSize) -> bool:
    """True if a picture of maxima is shown before all weights have come."""
    return size.all_at_once and not size.uneven and size.n_cells > MAX_FIRST_CELLS


def first_look(shown: PageContext, measured: Measured | None, at: HeadId) -> HeadsView:
    """All heads of a group as maxima of squares, and all weights of one head."""
    extent = shown.size.extent
    side = -(-max(extent.n_query, extent.n_key) // MAX_SQUARE)
    largest = groups.placed(shown.group, pooled_layers(shown.group, side))
    first = First(at.layer, at.head, side, largest)
    weights = shown.group.call(at.layer).weights(at.head, shown.group.row(at.layer)).cpu().numpy()
    view = heads.all_heads(shown, measured, weights[None, None], first)
    known = () if measured is None else heads.measures(shown.lang, measured)
    return replace(view, small=True, measures=known)


def square_side(size: GroupSize) -> int:
    """The smallest side of squares that leaves few enough points."""
    extent = size.extent
    return next(
        side
        for side in count(2)
        if size.n_heads * -(-extent.n_query // side) * -(-extent.n_key // side) <= MAX_POINTS
    )


def pooled_layers(group: Group, side: int) -> Iterator[Float32[np.ndarray, "kept query key"]]:
    """The largest weight of each square, layer by layer."""
    for weights in groups.each_layer(group):
        rows = _pooled_rows(weights, side)
        yield _pooled_rows(rows.swapaxes(1, 2), side).swapaxes(1, 2)


def _pooled_masks(group: Group, side: int) -> Bool[np.ndarray, "layer row column"] | None:
    """The squares in which each layer may see a cell; None if no layer blocks anything."""
    masks = groups.stacked_masks(group)
    if masks is None:
        return None
    return _pooled_rows(_pooled_rows(masks, side).swapaxes(1, 2), side).swapaxes(1, 2)


def _pooled_rows(matrices: Matrices, side: int) -> Matrices:
    """The largest of each `side` rows; the last run may be shorter."""
    n_rows = matrices.shape[1]
    whole = n_rows // side * side
    runs = matrices[:, :whole].reshape(matrices.shape[0], -1, side, matrices.shape[2])
    parts = [runs.max(axis=2)] if whole else []
    if whole < n_rows:
        parts.append(matrices[:, whole:].max(axis=1, keepdims=True))
    return np.concatenate(parts, axis=1)


def _pooled_axis(axis: TokenAxis, side: int) -> TokenAxis:
    """The first of each `side` tokens: special if all of them are, generated if one is."""
    starts = np.arange(0, len(axis.labels), side)
    return TokenAxis(
        tuple(axis.labels[start] + MORE for start in starts),
        np.logical_and.reduceat(axis.special, starts),
        np.logical_or.reduceat(axis.written, starts),
    )
