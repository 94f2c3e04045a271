"""The figure of two heads side by side, and of their difference.

In: two arrays of weights on the same axes, and tokens. Out: a `Drawing`. What only one side has is
NaN in the other: it is drawn grey, and has no difference.
"""

from typing import Unpack

from numpy.typing import ArrayLike

from attnviz.figures import axes
from attnviz.figures.axes import LINE, TITLE_ROOM, Box
from attnviz.figures.drawing import Drawing
from attnviz.figures.matrices import (
    TITLES,
    largest,
    of_signed,
    of_weights,
    place,
    put_labelled,
    require_few,
    sides,
)
from attnviz.figures.sheet import PrintSheet
from attnviz.figures.style import PAGE, Axis, Labels, Look, Style, look, numbers, require
from attnviz.figures.text_width import legible, shortened

GAP = 12.0  # between two panels


def compare(
    first: ArrayLike,
    second: ArrayLike,
    tokens: Labels,
    key_tokens: Labels | None = None,
    *,
    names: tuple[str, str] = ("A", "B"),
    **style: Unpack[Style],
) -> Drawing:
    """Two heads on the same axes and their difference, second − first, on a scale around 0."""
    chosen = look({"width_in": PAGE, **TITLES, **style})
    a, b = numbers("first", first), numbers("second", second)
    require(a.shape == b.shape, "second", f"{list(b.shape)}", f"{list(a.shape)}, as first is")
    rows, columns = sides(a, tokens, key_tokens)
    require_few(a, chosen)
    difference = b - a
    limit = largest(difference)
    sheet = PrintSheet(chosen.width, 0.0, chosen.title)
    boxes = _boxes(sheet, rows, columns, chosen)
    panels = (of_weights(a, chosen), of_weights(b, chosen), of_signed(difference, limit))
    for number, (box, colours) in enumerate(zip(boxes, panels, strict=True)):
        put_labelled(sheet, box, colours, (rows if number == 0 else None, columns), chosen)
    _put_names(sheet, boxes, columns, names, chosen)
    below, last = boxes[0].bottom + 6, boxes[2]
    end = axes.put_weight_bar(sheet, boxes[0].x, below, chosen, last.x - boxes[0].x - GAP)
    size = chosen.size - 0.5
    sheet.height = max(end, axes.put_signed_bar(sheet, last.x, below, last.width, limit, size))
    return Drawing(sheet)


def _boxes(sheet: PrintSheet, rows: Axis, columns: Axis, chosen: Look) -> tuple[Box, Box, Box]:
    """The places of the three matrices, equally wide; only the first has labels beside it."""
    size = chosen.size
    top = axes.put_title(sheet, chosen) + LINE * (size + 1) + 3
    beside = 1 + axes.room(rows, size) + (TITLE_ROOM * size if chosen.row_title else 0)
    step = (chosen.width - beside - 2 * GAP - 2) / 3 + GAP
    first = place(chosen, rows, columns, 1.0, top, beside + step - GAP)
    axes.put_titles(sheet, first, chosen, 0.0, top)
    second, third = (Box(first.x + n * step, first.y, first.width, first.height) for n in (1, 2))
    return first, second, third


def _put_names(
    sheet: PrintSheet,
    boxes: tuple[Box, Box, Box],
    columns: Axis,
    names: tuple[str, str],
    chosen: Look,
) -> None:
    """The name of each panel, above its labels."""
    size = chosen.size + 1
    above = axes.room(columns, chosen.size) + (LINE * chosen.size + 2 if chosen.column_title else 0)
    y = boxes[0].y - above - 3
    step = boxes[1].x - boxes[0].x
    first, second = map(legible, names)
    for box, name in zip(boxes, (first, second, f"{second} − {first}"), strict=True):
        sheet.text(box.x, y, shortened(name, size, step - GAP, bold=True), size, bold=True)
