"""A figure as a list of marks, laid out in points: what every writer draws.

In: texts, lines, frames and cells, each with its place. Out: a `PrintSheet`. One layout serves the
SVG, the PDF and the PNG, so that they show the same; y grows downwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import UInt8

INK, MUTED, FAINT, PRIMARY = "#0f1716", "#5c6664", "#d3dad6", "#0b6b63"
CHOSEN = "#8a3f00"  # as on the screen: the table of roles in pictures/shared/style.css
WHITE, BLOCKED = "#ffffff", "#e2e4e2"
POINTS = 72.0  # in an inch
Anchor = Literal["start", "middle", "end"]
Cells = Literal["image", "vector"]


@dataclass(frozen=True)
class Text:
    """One line of text; (x, y) is where it starts, is centred or ends, on its baseline.

    `turned` texts run upwards.
    """

    x: float
    y: float
    text: str
    size: float
    anchor: Anchor = "start"
    turned: bool = False
    colour: str = INK
    bold: bool = False


@dataclass(frozen=True)
class Segment:
    """A straight line from (x0, y0) to (x1, y1), opaque: print dislikes transparency."""

    x0: float
    y0: float
    x1: float
    y1: float
    colour: str = INK
    width: float = 0.5


@dataclass(frozen=True)
class Frame:
    """The outline of a rectangle."""

    x: float
    y: float
    width: float
    height: float
    colour: str = FAINT
    line: float = 0.5


@dataclass(frozen=True, eq=False)
class Matrix:
    """Coloured cells that fill a rectangle: one picture, or shapes with `cells="vector"`."""

    x: float
    y: float
    width: float
    height: float
    colours: UInt8[np.ndarray, "row column rgb"]
    cells: Cells = "image"


Mark = Text | Segment | Frame | Matrix


@dataclass(eq=False)
class PrintSheet:
    """The marks of a figure of so many points, in the order in which they are drawn."""

    width: float
    height: float
    title: str = ""
    marks: list[Mark] = field(default_factory=list)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        anchor: Anchor = "start",
        *,
        turned: bool = False,
        colour: str = INK,
        bold: bool = False,
    ) -> None:
        """Add a text, every sign of which can be seen."""
        self.marks.append(Text(x, y, text, size, anchor, turned, colour, bold))

    def add(self, *marks: Mark) -> None:
        """Add marks that need no care."""
        self.marks.extend(marks)

    @property
    def texts(self) -> Sequence[Text]:
        """Every text of the figure."""
        return [mark for mark in self.marks if isinstance(mark, Text)]
