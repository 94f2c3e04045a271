"""Overview of a text too long for single cells: max-pooled pictures of every head.

In: a `Group` whose heads together have more weights than a browser gets at once. Out: a `HeadsView`
in which each point is the largest weight of a square, so that no peak is lost; roles and measures
still come from all weights.
"""

from collections.abc import Iterator
from itertools import count

import numpy as np
from jaxtyping import Float32

from attnviz.pictures.group import groups, heads
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.axes import token_axes
from attnviz.pictures.group.groups import MAX_POINTS, Group, GroupSize
from attnviz.pictures.group.measures import Measured
from attnviz.pictures.group.titles import model_title
from attnviz.pictures.shared.heads import HeadsView, Pooled, TokenAxis

MORE = " …"  # after the first token of several


def overview(shown: PageContext, measured: Measured) -> HeadsView:
    """All heads of a group, each point the largest weight of a square, with every measure."""
    extent, side = shown.size.extent, square_side(shown.size)
    queries, keys = (_pooled_axis(axis, side) for axis in token_axes(shown))
    return HeadsView(
        model=model_title(shown.lang, shown.captured.name),
        queries=queries,
        keys=keys,
        cross=shown.group.cross,
        sentences=heads.sentences(shown, measured),
        weights=np.stack(list(pooled_layers(shown.group, side))),
        measures=heads.measures(shown.lang, measured),
        pooled=Pooled(side, extent.n_query, extent.n_key),
        small=True,
    )


def square_side(size: GroupSize) -> int:
    """The smallest side of squares that leaves few enough points."""
    extent = size.extent
    return next(
        side
        for side in count(2)
        if size.n_heads * -(-extent.n_query // side) * -(-extent.n_key // side) <= MAX_POINTS
    )


def pooled_layers(group: Group, side: int) -> Iterator[Float32[np.ndarray, "head query key"]]:
    """The largest weight of each square, layer by layer."""
    for weights in groups.each_layer(group):
        yield _pooled(_pooled(weights, side, axis=1), side, axis=2)


def _pooled(
    weights: Float32[np.ndarray, "_ _ _"], side: int, axis: int
) -> Float32[np.ndarray, "_ _ _"]:
    """The largest of each `side` weights along an axis; the last run may be shorter."""
    along = np.moveaxis(weights, axis, 0)
    largest = along[::side].copy()
    for start in range(1, side):
        part = along[start::side]
        np.maximum(largest[: len(part)], part, out=largest[: len(part)])
    return np.moveaxis(largest, 0, axis)


def _pooled_axis(axis: TokenAxis, side: int) -> TokenAxis:
    """The first of each `side` tokens: special if all of them are, generated if one is."""
    starts = np.arange(0, len(axis.labels), side)
    return TokenAxis(
        tuple(axis.labels[start] + MORE for start in starts),
        np.logical_and.reduceat(axis.special, starts),
        np.logical_or.reduceat(axis.written, starts),
    )
