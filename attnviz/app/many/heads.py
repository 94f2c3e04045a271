"""The heads of a map or a survey, as components and the view name them.

In: the heads of a model. Out: their `Extent`, and the one that the view means.
"""

from collections.abc import Sequence

from attnviz.pictures.shared.selection import Extent
from attnviz.types import HeadId


def nearest(heads: Sequence[HeadId], layer: int, head: int) -> HeadId:
    """The chosen head, or the nearest one that there is."""
    return min(heads, key=lambda place: (abs(place.layer - layer), abs(place.head - head)))


def extent(heads: Sequence[HeadId], longest: int) -> Extent:
    """The heads with positions up to `longest`."""
    layers = [head.layer for head in heads]
    counts = tuple(layers.count(layer) for layer in sorted(set(layers)))
    return Extent(len(counts), max(counts), longest, longest, counts)
