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
from attnviz.i18n import Language
from attnviz.ui import inputs, sources
from attnviz.ui.cache import Captured
from attnviz.ui.groups import MOST_POINTS, Group

MORE = " …"  # after the first token of several


def overview(lang: Language, captured: Captured, group: Group) -> HeadsView:
    """All heads of a group from afar, with every measure that this text has."""
    side, extent = side_of(group), group.extent
    queries, keys = (_thinned(axis, side) for axis in inputs.token_axes(lang, group))
    return HeadsView(
        model=sources.label(lang, captured.name),
        queries=queries,
        keys=keys,
        cross=group.cross,
        sentences=inputs.sentences(lang, captured, group),
        weights=np.stack(list(pooled(group, side))),
        measures=inputs.measures(lang, captured, group),
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
