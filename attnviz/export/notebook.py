"""`show`: a capture in a notebook, as a frame with the page and a still picture under it.

In: a capture. Out: an object that notebooks display. The frame is an <iframe srcdoc> that may run
scripts and nothing else: it has no origin, no cookies and no network. Where a notebook does not
show frames (one that is not trusted, a site that lists notebooks), the picture stays.
"""

import base64
import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np
from jaxtyping import UInt8

from attnviz.attention.capture import Capture
from attnviz.errors import BadInput
from attnviz.export.page import PageChoices, write_page
from attnviz.figures import png, ramp
from attnviz.views import group_weights
from attnviz.views.groups import Group, groups

if TYPE_CHECKING:
    from jaxtyping import Float32

HEIGHT_PX = 720
HEIGHTS = (200, 4000)
MOST_SIDE = 64  # pixels of a head in the still picture
MOST_HEADS = 24  # heads and layers in the still picture
GAP = 2
ENLARGED_UP_TO = 32  # pixels of a head: smaller ones are drawn twice as large


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
        picture = base64.b64encode(self.still).decode()
        return {"text/html": self._html(picture), "image/png": picture, "text/plain": repr(self)}

    def _html(self, picture: str) -> str:
        label = html.escape(self.label)
        inside = "position:absolute;top:0;left:0"
        return (
            f'<div style="position:relative;height:{self.height}px;overflow:hidden">'
            f'<img alt="{label}" src="data:image/png;base64,{picture}"'
            f' style="{inside};max-width:100%;max-height:100%">'
            f'<iframe title="{label}" sandbox="allow-scripts" srcdoc="{html.escape(self.page)}"'
            f' style="{inside};width:100%;height:100%;border:0;background:#fdfdfb"></iframe></div>'
        )


def show(cap: Capture, *, height: int = HEIGHT_PX, **choices: Unpack[PageChoices]) -> NotebookFrame:
    """The page of a capture for a notebook: all heads, one head, steps and masks.

    `height` is that of the frame in CSS pixels; the other arguments are those of `save` for .html.
    Raises `BadInput` for a height outside 200 to 4000 and for what `save` refuses.
    """
    least, most = HEIGHTS
    if not isinstance(height, int) or not least <= height <= most:
        raise BadInput(
            f"height={height!r} is not a number of pixels from {least} to {most}",
            code="bad_argument",
            name="height",
            found=repr(height),
            allowed=f"{least} to {most}",
        )
    page = write_page(cap, **choices).decode()
    label = f"attention of {cap.model.id} on {len(cap.tokens)} tokens"
    return NotebookFrame(page, still(groups(cap)[0]), label, height)


def still(group: Group) -> bytes:
    """All heads of a group as one PNG: a row for each layer, in the colours of the page."""
    colours = ramp.table("light")
    layers = list(group_weights.each_layer(group))[:MOST_HEADS]
    rows = [[_small(weights) for weights in heads[:MOST_HEADS]] for heads in layers]
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


def _small(weights: "Float32[np.ndarray, 'query key']") -> UInt8[np.ndarray, "row column"]:
    """The colour of each weight; of a large matrix, that of the largest weight in each pixel."""
    for axis in (0, 1):
        n = weights.shape[axis]
        if n > MOST_SIDE:
            starts = np.arange(MOST_SIDE) * n // MOST_SIDE
            weights = np.maximum.reduceat(weights, starts, axis=axis)
    return ramp.levels(weights, "sqrt")
