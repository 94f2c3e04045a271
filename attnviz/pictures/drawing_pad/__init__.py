"""A pad to draw a picture on: brush, eraser, forms to stamp, colours, sizes, undo, clear.

In: a frozen `DrawingPadView`. Out: at the end of a stroke the picture as a PNG in a data URL, which
may be anything: whoever reads it checks it like an upload. `pad` is the one for pictures like those
of the `shapes` world; the app's drawings have names made of its colours.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Float64, UInt8

from attnviz.pictures.shared.canvas import LOCAL, Canvas, derived
from attnviz.worlds.forms import OUTLINES, PALETTE, Paint

PAD_SIDE_PX = 384
PAINTS: dict[str, Paint] = {**PALETTE, "black": (28, 30, 34)}
FORM_SEED = 1  # of the outline that the pad places for a form


@dataclass(frozen=True)
class Colour:
    """A colour to draw with."""

    name: str
    css: str


@dataclass(frozen=True)
class DrawingForm:
    """A form to stamp, as points within ±1."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, eq=False)
class DrawingPadView:
    """The colours to draw with, and the forms as points within ±1, each by its name.

    `side_px` is the side of the picture that is sent; `first` is one that is drawn upon.
    """

    side_px: int
    paints: Annotated[Mapping[str, tuple[int, int, int]], LOCAL]
    outlines: Annotated[Mapping[str, Float64[np.ndarray, "point 2"]], LOCAL]
    first: UInt8[np.ndarray, "row column rgb"] | None = None

    @derived
    def colours(self) -> tuple[Colour, ...]:
        """The colours as CSS writes them."""
        return tuple(
            Colour(name, f"rgb({red}, {green}, {blue})")
            for name, (red, green, blue) in self.paints.items()
        )

    @derived
    def forms(self) -> tuple[DrawingForm, ...]:
        """The forms, rounded to a thousandth."""
        return tuple(
            DrawingForm(name, tuple((x, y) for x, y in points.round(3).tolist()))
            for name, points in self.outlines.items()
        )


CANVAS = Canvas("drawing_pad", (DrawingPadView,))


def pad(first: UInt8[np.ndarray, "row column rgb"] | None = None) -> DrawingPadView:
    """The pad with every paint and every form, empty or with a picture to draw upon."""
    outlines = {name: form(np.random.default_rng(FORM_SEED)) for name, form in OUTLINES.items()}
    return DrawingPadView(side_px=PAD_SIDE_PX, paints=PAINTS, outlines=outlines, first=first)
