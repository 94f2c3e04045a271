"""A page in a notebook: a frame that may run scripts and save files, over a still picture.

In: a page, and the group of attention calls that the picture shows. Out: what a notebook displays.
The frame is an <iframe srcdoc>: it has no origin, no cookies and no network. Where a notebook shows
no frames (one that is not trusted, a site that lists notebooks), the picture stays: a PNG of all
heads, in the colours of the page.
"""

import base64
import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float32, UInt8

from attnviz.figures import png, ramp
from attnviz.pictures.group import groups
from attnviz.pictures.group.groups import Group

if TYPE_CHECKING:
    from attnviz.attention.call import AttentionCall

MAX_SIDE = 64  # pixels of a head
MAX_HEADS = 24  # heads of a layer, and layers
GAP = 2
ENLARGED_UP_TO = 32  # pixels of a head: smaller ones are drawn twice as large
FAINT = 214  # grey of the heads that were not kept
INSIDE = "position:absolute;top:0;left:0"


@dataclass(frozen=True, repr=False)
class NotebookFrame:
    """A page in a notebook; `still` is a PNG of all heads, `height` in CSS pixels."""

    page: str
    still: bytes
    label: str
    height: int

    def __repr__(self) -> str:
        return (
            f"NotebookFrame of {self.label}: {len(self.page) / 1e6:.1f} MB; show it in a notebook"
        )

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """The frame as HTML, and the still picture for what shows no frames."""
        frame = (
            f'<iframe title="{html.escape(self.label)}" sandbox="allow-scripts allow-downloads"'
            f' srcdoc="{html.escape(self.page)}"'
            f' style="{INSIDE};width:100%;height:100%;border:0;background:#fdfdfb"></iframe>'
        )
        return {**pictures(self.still, self.label, self.height, frame), "text/plain": repr(self)}


def pictures(still: bytes, label: str, height: int, over: str = "") -> dict[str, str]:
    """The still picture as HTML and as PNG, by type; `over` is markup that lies on it."""
    picture = base64.b64encode(still).decode()
    box = (
        f'<div style="position:relative;height:{height}px;overflow:hidden">'
        f'<img alt="{html.escape(label)}" src="data:image/png;base64,{picture}"'
        f' style="{INSIDE};max-width:100%;max-height:100%">{over}</div>'
    )
    return {"text/html": box, "image/png": picture}


def still(group: Group) -> bytes:
    """All heads of a group as one PNG: a row for each layer, in the colours of the page.

    Heads that were not kept are crossed out.
    """
    colours = ramp.table("light")
    layers = zip(group.calls[:MAX_HEADS], groups.each_layer(group), strict=False)
    rows = [_small_row(call, weights) for call, weights in layers]
    down = max(cells.shape[0] for row in rows for cells in row) + GAP
    across = max(cells.shape[1] for row in rows for cells in row) + GAP
    size = (len(rows) * down - GAP, max(map(len, rows)) * across - GAP, 3)
    atlas = np.full(size, 255, np.uint8)
    for layer, row in enumerate(rows):
        for head, cells in enumerate(row):
            top, left = layer * down, head * across
            drawn = colours[cells] if head in group.calls[layer].kept_heads else _crossed_out(cells)
            atlas[top : top + cells.shape[0], left : left + cells.shape[1]] = drawn
    enlarged = 2 if max(down, across) - GAP <= ENLARGED_UP_TO else 1
    return png.encoded(atlas, enlarged)


def _small_row(
    call: "AttentionCall", weights: Float32[np.ndarray, "kept query key"]
) -> list[UInt8[np.ndarray, "row column"]]:
    """The small pictures of a layer's heads; those of heads that were not kept are empty."""
    empty = _small(np.zeros(weights.shape[1:], np.float32))
    kept = dict(zip(call.kept_heads, map(_small, weights), strict=True))
    return [kept.get(head, empty) for head in range(min(call.n_heads, MAX_HEADS))]


def _crossed_out(cells: UInt8[np.ndarray, "row column"]) -> UInt8[np.ndarray, "row column rgb"]:
    """A frame with a line across, as large as these cells."""
    rows, columns = cells.shape
    drawn = np.full((rows, columns, 3), 255, np.uint8)
    drawn[[0, -1]] = drawn[:, [0, -1]] = FAINT
    along = np.linspace(0, 1, max(rows, columns))
    drawn[
        np.rint((1 - along) * (rows - 1)).astype(int), np.rint(along * (columns - 1)).astype(int)
    ] = FAINT
    return drawn


def _small(weights: Float32[np.ndarray, "query key"]) -> UInt8[np.ndarray, "row column"]:
    """The colour of each weight; of a large matrix, that of the largest weight in each pixel."""
    for axis in (0, 1):
        n = weights.shape[axis]
        if n > MAX_SIDE:
            starts = np.arange(MAX_SIDE) * n // MAX_SIDE
            weights = np.maximum.reduceat(weights, starts, axis=axis)
    return ramp.levels(weights, "sqrt")
