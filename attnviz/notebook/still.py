"""The still picture of a capture, for notebooks that show no frames.

In: a group of attention calls. Out: a PNG of all their heads, in the colours of the page.
"""

import numpy as np
from jaxtyping import Float32, UInt8

from attnviz.figures import png, ramp
from attnviz.pictures.group import group_weights
from attnviz.pictures.group.groups import Group

MAX_SIDE = 64  # pixels of a head
MAX_HEADS = 24  # heads of a layer, and layers
GAP = 2
ENLARGED_UP_TO = 32  # pixels of a head: smaller ones are drawn twice as large


def still(group: Group) -> bytes:
    """All heads of a group as one PNG: a row for each layer, in the colours of the page."""
    colours = ramp.table("light")
    layers = list(group_weights.each_layer(group))[:MAX_HEADS]
    rows = [[_small(weights) for weights in heads[:MAX_HEADS]] for heads in layers]
    down = max(cells.shape[0] for row in rows for cells in row) + GAP
    across = max(cells.shape[1] for row in rows for cells in row) + GAP
    size = (len(rows) * down - GAP, max(map(len, rows)) * across - GAP, 3)
    atlas = np.full(size, 255, np.uint8)
    for layer, row in enumerate(rows):
        for head, cells in enumerate(row):
            top, left = layer * down, head * across
            atlas[top : top + cells.shape[0], left : left + cells.shape[1]] = colours[cells]
    enlarged = 2 if max(down, across) - GAP <= ENLARGED_UP_TO else 1
    return png.encoded(atlas, enlarged)


def _small(weights: Float32[np.ndarray, "query key"]) -> UInt8[np.ndarray, "row column"]:
    """The colour of each weight; of a large matrix, that of the largest weight in each pixel."""
    for axis in (0, 1):
        n = weights.shape[axis]
        if n > MAX_SIDE:
            starts = np.arange(MAX_SIDE) * n // MAX_SIDE
            weights = np.maximum.reduceat(weights, starts, axis=axis)
    return ramp.levels(weights, "sqrt")
