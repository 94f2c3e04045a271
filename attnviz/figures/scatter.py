"""The figure of all heads of a survey: points on two measures, each with its interval as a cross.

In: a low end, a mean and a high end of two measures for each head, and labels. Out: a `Drawing`.
Heads that are marked have the colour of what is chosen, and a label before the others; a label
that would cover another one is left out.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, Unpack

import numpy as np
from jaxtyping import Bool, Float

from attnviz.figures import axes
from attnviz.figures.axes import LINE
from attnviz.figures.drawing import Drawing
from attnviz.figures.sheet import CHOSEN, FAINT, INK, MUTED, Frame, PrintSheet, Segment
from attnviz.figures.style import PAGE, Look, Style, look, numbers, require
from attnviz.figures.text_width import legible, width

HEIGHT = 0.62  # of the width
ROOM = 0.05  # of the range, beyond the outermost points
N_TICKS = 5
HALF = 1.4  # points: half a mark
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


class AxisSpan(NamedTuple):
    """The numbers from one end of an axis to the other, and the points where they lie."""

    low: float
    high: float
    start: float
    stop: float

    def at(self, value: float) -> float:
        """The place of a number on the sheet."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.stop - self.start)


def scatter(
    points: Float[np.ndarray, "head axis end"],
    labels: Sequence[str],
    marked: Bool[np.ndarray, " head"],
    **style: Unpack[Style],
) -> Drawing:
    """Heads on two measures; `column_title` names the first, across, `row_title` the second, up.

    Ends may be NaN: then there is no cross; a head without a mean is left out. `Style` has the
    choices, of which a scatter does not use `scale` and `cells`.
    """
    chosen = look({"width_in": PAGE, **style}, ("scale", "cells"))
    values = numbers("points", points, 3)
    require(len(labels) == len(values), "labels", f"{len(labels)} labels", f"{len(values)}")
    known = ~np.isnan(values[:, :, 1]).any(axis=1)
    require(bool(known.any()), "points", "no head with both measures", "a head with both")
    sheet = PrintSheet(chosen.width, 0.0, chosen.title)
    across, up = _spans(sheet, values[known], chosen)
    _put_axes(sheet, across, up, chosen)
    order = sorted(np.flatnonzero(known).tolist(), key=lambda head: (not marked[head], head))
    for head in reversed(order):  # marked ones lie above
        _put_head(sheet, values[head], across, up, CHOSEN if marked[head] else MUTED)
    taken: list[tuple[float, float, float, float]] = []
    for head in order:
        x, y = across.at(values[head, 0, 1]), up.at(values[head, 1, 1])
        _put_label(sheet, legible(labels[head]), (x, y), chosen, taken, bool(marked[head]))
    return Drawing(sheet)


def _spans(
    sheet: PrintSheet, values: Float[np.ndarray, "head axis end"], chosen: Look
) -> tuple[AxisSpan, AxisSpan]:
    """The axes, each from a little below the smallest number to a little above the largest."""
    size, top = chosen.size, axes.put_title(sheet, chosen)
    bottom = top + HEIGHT * chosen.width
    sheet.height = bottom + 2.6 * LINE * size + 4
    left = 3.2 * size + LINE * size
    places = ((left, chosen.width - 6), (bottom, top + 2))
    spans = []
    for axis, (start, stop) in enumerate(places):
        low, high = float(np.nanmin(values[:, axis])), float(np.nanmax(values[:, axis]))
        room = ROOM * (high - low) or 0.5
        spans.append(AxisSpan(low - room, high + room, start, stop))
    return spans[0], spans[1]


def _put_axes(sheet: PrintSheet, across: AxisSpan, up: AxisSpan, chosen: Look) -> None:
    size = chosen.size
    sheet.add(Frame(across.start, up.stop, across.stop - across.start, up.start - up.stop))
    for tick in _ticks(across):
        x = across.at(tick)
        sheet.add(Segment(x, up.start, x, up.stop, FAINT, 0.3))
        sheet.text(x, up.start + LINE * size + 1, f"{tick:g}", size, "middle", colour=MUTED)
    for tick in _ticks(up):
        y = up.at(tick)
        sheet.add(Segment(across.start, y, across.stop, y, FAINT, 0.3))
        sheet.text(across.start - 3, y + 0.35 * size, f"{tick:g}", size, "end", colour=MUTED)
    below = up.start + 2.4 * LINE * size
    sheet.text(across.stop, below, chosen.column_title, size, "end")
    sheet.text(size, (up.start + up.stop) / 2, chosen.row_title, size, "middle", turned=True)


def _ticks(span: AxisSpan) -> list[float]:
    """Round numbers inside an axis."""
    rough = (span.high - span.low) / N_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in STEPS if step * power >= rough)
    first = math.ceil(span.low / step)
    return [round(place * step, 10) for place in range(first, math.floor(span.high / step) + 1)]


def _put_head(
    sheet: PrintSheet,
    ends: Float[np.ndarray, "axis end"],
    across: AxisSpan,
    up: AxisSpan,
    colour: str,
) -> None:
    """The mean as a small square, with a line from the low to the high end on each axis."""
    x, y = across.at(float(ends[0, 1])), up.at(float(ends[1, 1]))
    if not np.isnan(ends[0]).any():
        low, high = across.at(float(ends[0, 0])), across.at(float(ends[0, 2]))
        sheet.add(Segment(low, y, high, y, colour, 0.4))
    if not np.isnan(ends[1]).any():
        low, high = up.at(float(ends[1, 0])), up.at(float(ends[1, 2]))
        sheet.add(Segment(x, low, x, high, colour, 0.4))
    sheet.add(Segment(x - HALF, y, x + HALF, y, colour, 2 * HALF))


def _put_label(
    sheet: PrintSheet,
    label: str,
    place: tuple[float, float],
    chosen: Look,
    taken: list[tuple[float, float, float, float]],
    marked: bool,
) -> None:
    """A label to the right or left of its head, where it is whole and covers no other."""
    (x, y), size = place, chosen.size - 1
    wide = width(label, size)
    for left in (x + HALF + 2, x - HALF - 2 - wide):
        box = (left, y - size, left + wide, y + 0.4 * size)
        free = all(
            box[2] < other[0] or other[2] < box[0] or box[3] < other[1] or other[3] < box[1]
            for other in taken
        )
        if free and left > 0 and box[2] < chosen.width:
            taken.append(box)
            sheet.text(left, y + 0.35 * size, label, size, colour=INK if marked else MUTED)
            return
