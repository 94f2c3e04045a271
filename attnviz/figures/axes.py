"""The surroundings of a matrix: labels along its sides, titles, and the bar that reads its colours.

In: a `PrintSheet`, the place of a matrix and its labels. Out: marks. Where cells are lower than a
line of text, only every second, third, … label is written; a label that is longer than its room
ends with an ellipsis, so that nothing is cut off and nothing overlaps.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt8

from attnviz.figures import ramp
from attnviz.figures.ramp import Scale
from attnviz.figures.sheet import INK, MUTED, Frame, Matrix, PrintSheet, Segment
from attnviz.figures.style import Axis, Look
from attnviz.figures.text_width import shortened, widest, width

GAP = 3.0  # between a label and its matrix
TITLE_ROOM = 1.5  # of an axis beside its labels, in units of its size
BELOW = 0.65  # room beside the last of turned labels, in units of its size
LINE = 1.1  # the height of a line of text in units of its size
BASELINE = 0.35  # below the middle of a line, in units of its size
LONGEST = 7.5  # the room of a label, in units of its size
BAR_HEIGHT = 5.0
BAR_WIDTH = 120.0
TICKS: dict[Scale, tuple[float, ...]] = {
    "linear": (0, 0.25, 0.5, 0.75, 1),
    "sqrt": (0, 0.05, 0.25, 0.5, 1),
    "log": (1e-4, 1e-3, 0.01, 0.1, 1),
}
SCALE_NAMES: dict[Scale, str] = {
    "linear": "weight",
    "sqrt": "weight (√ scale)",
    "log": "weight (log scale)",
}


@dataclass(frozen=True)
class Box:
    """The place of a matrix on a sheet."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height


def room(axis: Axis, size: float, longest: float = LONGEST) -> float:
    """The room beside a matrix that its labels need, the gap included."""
    return GAP + min(longest * size, widest(axis.labels, size))


def put_rows(
    sheet: PrintSheet, box: Box, axis: Axis, size: float, longest: float = LONGEST
) -> None:
    """Labels to the left of a matrix."""
    pitch = box.height / len(axis)
    for at in range(0, len(axis), _every(size, pitch)):
        y = box.y + (at + 0.5) * pitch + BASELINE * size
        text = shortened(axis.labels[at], size, longest * size)
        sheet.text(box.x - GAP, y, text, size, "end", colour=_colour(axis, at))


def put_columns(
    sheet: PrintSheet, box: Box, axis: Axis, size: float, longest: float = LONGEST
) -> None:
    """Labels above a matrix, running upwards."""
    pitch = box.width / len(axis)
    for at in range(0, len(axis), _every(size, pitch)):
        x = box.x + (at + 0.5) * pitch + BASELINE * size
        text = shortened(axis.labels[at], size, longest * size)
        sheet.text(x, box.y - GAP, text, size, turned=True, colour=_colour(axis, at))


def _every(size: float, pitch: float) -> int:
    """The height of one line of text, in rows."""
    return max(1, math.ceil(LINE * size / pitch))


def _colour(axis: Axis, at: int) -> str:
    return MUTED if axis.special[at] else INK


def put_titles(sheet: PrintSheet, box: Box, look: Look, left: float, top: float) -> None:
    """The names of both axes: at the left edge, turned, and above the labels of the columns."""
    size = look.size
    if look.row_title:
        text = shortened(look.row_title, size, max(box.height, LONGEST * size))
        middle = max(box.y + box.height / 2, width(text, size) / 2)
        sheet.text(left + size, middle, text, size, "middle", turned=True, colour=MUTED)
    if look.column_title:
        text = shortened(look.column_title, size, look.width - box.x)
        sheet.text(box.x, top + size, text, size, colour=MUTED)


def put_matrix(
    sheet: PrintSheet, box: Box, colours: UInt8[np.ndarray, "row column rgb"], look: Look
) -> None:
    """The cells, and a frame around them."""
    sheet.add(
        Matrix(box.x, box.y, box.width, box.height, colours, look.cells),
        Frame(box.x, box.y, box.width, box.height),
    )


def put_weight_bar(sheet: PrintSheet, x: float, y: float, look: Look, room: float) -> float:
    """The bar of a scale of weights with its ticks and name; returns where it ends, downwards."""
    size, scale = look.size - 0.5, look.scale
    long = min(BAR_WIDTH, room - width("1", size))
    colours = ramp.table("light")
    _bar(sheet, x, y, long, colours)
    below = y + BAR_HEIGHT
    for tick in TICKS[scale]:
        at = x + long * float(ramp.places(np.array(tick, dtype=np.float64), scale))
        sheet.add(Segment(at, below, at, below + 2, MUTED, 0.4))
        text = f"{tick:g}"
        half = width(text, size) / 2
        sheet.text(max(at, half), below + 2 + size, text, size, "middle", colour=MUTED)
    name = SCALE_NAMES[scale]
    end = below + 2 + size
    if x + long + 8 + width(name, size) <= x + room:
        sheet.text(x + long + 8, below, name, size, colour=MUTED)
        return end + 2
    sheet.text(x, end + LINE * size, shortened(name, size, room), size, colour=MUTED)
    return end + LINE * size + 2


def put_signed_bar(
    sheet: PrintSheet, x: float, y: float, long: float, limit: float, size: float
) -> float:
    """The bar of signed numbers with its two ends; returns where it ends, downwards."""
    _bar(sheet, x, y, long, ramp.table("diverging_light"))
    line = y + BAR_HEIGHT + 1 + size
    high = f"{limit:.3g}"
    sheet.text(x, line, f"−{high}", size, colour=MUTED)
    if width(f"−{high}0{high}", size) <= long:
        sheet.text(x + long / 2, line, "0", size, "middle", colour=MUTED)
    sheet.text(x + long, line, high, size, "end", colour=MUTED)
    return line + 2


def put_linear_bar(
    sheet: PrintSheet, x: float, y: float, long: float, most: float, size: float
) -> float:
    """The bar of weights from 0 to the largest with its two ends; returns where it ends."""
    _bar(sheet, x, y, long, ramp.table("light"))
    line = y + BAR_HEIGHT + 1 + size
    sheet.text(x, line, "0", size, colour=MUTED)
    sheet.text(x + long, line, f"{most:.3g}", size, "end", colour=MUTED)
    return line + 2


def _bar(
    sheet: PrintSheet, x: float, y: float, long: float, colours: UInt8[np.ndarray, "level rgb"]
) -> None:
    sheet.add(
        Matrix(x, y, long, BAR_HEIGHT, colours[None]), Frame(x, y, long, BAR_HEIGHT, line=0.4)
    )


def put_title(sheet: PrintSheet, look: Look) -> float:
    """The title at the top, if there is one; returns where the figure may begin."""
    if not look.title:
        return 2.0
    size = look.size + 1
    sheet.text(
        2.0, 1 + size, shortened(look.title, size, look.width - 4, bold=True), size, bold=True
    )
    return 1 + LINE * size + 4
