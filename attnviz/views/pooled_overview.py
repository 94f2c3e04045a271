"""Overview of what is too long to be shown cell by cell: every head from afar.

In: a `Group` whose heads together have more weights than a browser gets at once. Out: a `HeadsView`
in which each point is the largest of some neighbouring weights, so that no peak is lost; what the
heads do, and what they measure, is found from all weights, layer by layer.
"""

from collections.abc import Iterator
from itertools import count

import numpy as np
from jaxtyping import Float32

from attnviz.components.heads import Axis, HeadsView, Pooled
from attnviz.views import heads
from attnviz.views.axes import token_axes
from attnviz.views.captured import Shown
from attnviz.views.groups import MOST_POINTS, Group
from attnviz.views.measures import Measured
from attnviz.views.titles import model_title

MORE = " …"  # after the first token of several


def overview(shown: Shown, measured: Measured) -> HeadsView:
    """All heads of a group, each point the largest of a square of weights, with every measure."""
    side, extent = side_of(shown.group), shown.group.extent
    queries, keys = (_thinned(axis, side) for axis in token_axes(shown))
    return HeadsView(
        model=model_title(shown.lang, shown.captured.name),
        queries=queries,
        keys=keys,
        cross=shown.group.cross,
        sentences=heads.sentences(shown.lang, measured),
        weights=np.stack(list(pooled(shown.group, side))),
        measures=heads.measures(shown.lang, measured),
        pooled=Pooled(side, extent.n_query, extent.n_key),
    )


def side_of(group: Group) -> int:
    """The smallest side of squares that leaves few enough points."""
    heads, extent = sum(call.n_heads for call in group.calls), group.extent
    fitting = (
        side
        for side in count(2)
        if heads * -(-extent.n_query // side) * -(-extent.n_key // side) <= MOST_POINTS
    )
    return next(fitting)


def pooled(group: Group, side: int) -> Iterator[Float32[np.ndarray, "head query key"]]:
    """The largest weight of each square, layer by layer."""
    for weights in group.each_weights():
        yield _strongest(_strongest(weights, side, 1), side, 2)


def _strongest(
    weights: Float32[np.ndarray, "_ _ _"], side: int, axis: int
) -> Float32[np.ndarray, "_ _ _"]:
    """The largest of each `side` weights along an axis; the last of them may be fewer."""
    along = np.moveaxis(weights, axis, 0)
    found = along[::side].copy()
    for start in range(1, side):
        part = along[start::side]
        np.maximum(found[: len(part)], part, out=found[: len(part)])
    return np.moveaxis(found, 0, axis)


def _thinned(axis: Axis, side: int) -> Axis:
    """The first of each `side` tokens; special where all of them are, written where one is."""
    starts = np.arange(0, len(axis.labels), side)
    return Axis(
        tuple(axis.labels[start] + MORE for start in starts),
        np.logical_and.reduceat(axis.special, starts),
        np.logical_or.reduceat(axis.written, starts),
    )
