"""A pad to draw a picture on: brush, eraser, forms to stamp, colours, sizes, undo, clear.

In: a frozen `PadView` and translated strings. Out: a mounted component; at the end of a stroke
the picture is sent as a PNG in a data URL, which may be anything: whoever reads it checks it like
an upload.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from attnviz.components.buffer import pack

NAME = "attnviz.pad"
STRING_KEYS: tuple[str, ...] = (
    "pad.surface",
    "pad.hint",
    "pad.tools",
    "pad.brush",
    "pad.eraser",
    "pad.circle",
    "pad.square",
    "pad.triangle",
    "pad.star",
    "pad.cross",
    "pad.heart",
    "pad.colours",
    "pad.red",
    "pad.orange",
    "pad.yellow",
    "pad.green",
    "pad.blue",
    "pad.purple",
    "pad.black",
    "pad.sizes",
    "pad.small",
    "pad.medium",
    "pad.large",
    "pad.undo",
    "pad.clear",
    "pad.placed",
    "pad.undone",
    "pad.cleared",
)


@dataclass(frozen=True, eq=False)
class PadView:
    """The colours to draw with, and the forms as points within ±1, each by its name.

    `side_px` is the side of the picture that is sent.
    """

    side_px: int
    colours: Mapping[str, tuple[int, int, int]]
    forms: Mapping[str, Float64[np.ndarray, "point 2"]]


def pack_pad(view: PadView, strings: Mapping[str, str]) -> bytes:
    """The buffer of a pad."""
    header = {
        "strings": dict(strings),
        "side": view.side_px,
        "colours": [
            {"name": name, "css": f"rgb({red}, {green}, {blue})"}
            for name, (red, green, blue) in view.colours.items()
        ],
        "forms": [
            {"name": name, "points": points.round(3).tolist()}
            for name, points in view.forms.items()
        ],
    }
    return pack(header, {})
