"""Figures side by side: several heads, two with their difference, a picture and its patches.

In: arrays of weights on the same axes, and tokens. Out: a `Drawing`. What only one of two sides has
is NaN in the other: it is drawn grey, and has no difference.
"""

from collections.abc import Sequence
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from attnviz.figures import axes, ramp
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
PER_ROW = 3
BAR = 220.0  # the longest colour bar
FAINTEST = 0.6  # what black leaves of a colour that is laid over it


def panels(
    weights: Sequence[ArrayLike],
    tokens: Labels,
    key_tokens: Labels | None = None,
    *,
    names: Sequence[str],
    **style: Unpack[Style],
) -> Drawing:
    """Some heads on the same tokens, three in a row, with the name of each above it.

    Raises `BadInput` for arrays of different sizes, or another number of names.
    """
    chosen = look({"width_in": PAGE, **TITLES, **style})
    matrices = [numbers("weights", one) for one in weights]
    require(bool(matrices), "weights", "none", "one array or more")
    for matrix in matrices:
        require(matrix.shape == matrices[0].shape, "weights", "several sizes", "arrays of one size")
    require(len(names) == len(matrices), "names", str(len(names)), f"{len(matrices)}, one for each")
    rows, columns = sides(matrices[0], tokens, key_tokens)
    require_few(matrices[0], chosen)
    sheet = PrintSheet(chosen.width, 0.0, chosen.title)
    top = axes.put_title(sheet, chosen)
    for start in range(0, len(matrices), PER_ROW):
        some = slice(start, start + PER_ROW)
        boxes = _boxes(sheet, rows, columns, chosen, top, min(PER_ROW, len(matrices)))
        for number, (box, matrix) in enumerate(zip(boxes, matrices[some], strict=False)):
            labels = (rows if number == 0 else None, columns)
            put_labelled(sheet, box, of_weights(matrix, chosen), labels, chosen)
        _put_names(sheet, boxes, columns, [*map(legible, names[some])], chosen)
        top = boxes[0].bottom + GAP
    first = boxes[0]
    width = min(chosen.width - first.x - 2, BAR)
    sheet.height = axes.put_weight_bar(sheet, first.x, first.bottom + 6, chosen, width)
    return Drawing(sheet)


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
    boxes = _boxes(sheet, rows, columns, chosen, axes.put_title(sheet, chosen), 3)
    painted = (of_weights(a, chosen), of_weights(b, chosen), of_signed(difference, limit))
    for number, (box, colours) in enumerate(zip(boxes, painted, strict=True)):
        put_labelled(sheet, box, colours, (rows if number == 0 else None, columns), chosen)
    one, other = map(legible, names)
    _put_names(sheet, boxes, columns, [one, other, f"{other} − {one}"], chosen)
    below, last = boxes[0].bottom + 6, boxes[2]
    end = axes.put_weight_bar(sheet, boxes[0].x, below, chosen, last.x - boxes[0].x - GAP)
    size = chosen.size - 0.5
    sheet.height = max(end, axes.put_signed_bar(sheet, last.x, below, last.width, limit, size))
    return Drawing(sheet)


def picture(
    pixels: ArrayLike, weights: ArrayLike, *, name: str = "", **style: Unpack[Style]
) -> Drawing:
    """A picture beside the weights [row, column] of its patches, which are laid over it in grey.

    Colours reach from 0 to the largest weight, evenly: the bar names it. `name` stands above
    both. `Style` has the choices, but for `scale`, `cells` and the titles of axes. Raises
    `BadInput` for pixels that are not [row, column, rgb] in 0..255, or weights that are no matrix.
    """
    chosen = look(style, ("scale", "cells", "row_title", "column_title"))
    matrix, image = numbers("weights", weights), numbers("pixels", pixels, 3)
    shown = f"an array of shape {list(image.shape)}, {image.min():g} to {image.max():g}"
    is_rgb = image.shape[2] == 3 and 0 <= image.min() and image.max() <= 255
    require(is_rgb, "pixels", shown, "pixels [row, column, rgb] in 0..255")
    most = float(np.nanmax(matrix))
    cells = ramp.table("light")[ramp.levels(matrix / max(most, 1e-12), "linear")]
    rows, columns = (
        np.arange(side) * cells.shape[axis] // side for axis, side in enumerate(image.shape[:2])
    )
    grey = FAINTEST + (1 - FAINTEST) * image.mean(2, keepdims=True) / 255
    laid = (cells[rows][:, columns] * grey).astype(np.uint8)

    sheet = PrintSheet(chosen.width, 0.0, chosen.title)
    size, width = chosen.size + 1, (chosen.width - GAP - 2) / 2
    top = axes.put_title(sheet, chosen) + (LINE * size if name else 0)
    height = width * image.shape[0] / image.shape[1]
    left, right = (Box(1 + n * (width + GAP), top, width, height) for n in range(2))
    axes.put_matrix(sheet, left, image.astype(np.uint8), chosen)
    axes.put_matrix(sheet, right, laid, chosen)
    if name:
        text = shortened(legible(name), size, chosen.width - 2, bold=True)
        sheet.text(left.x, top - 3, text, size, bold=True)
    sheet.height = axes.put_linear_bar(
        sheet, right.x, right.bottom + 6, min(width, BAR), most, chosen.size - 0.5
    )
    return Drawing(sheet)


def _boxes(
    sheet: PrintSheet, rows: Axis, columns: Axis, chosen: Look, top: float, count: int
) -> list[Box]:
    """The places of a row of matrices, equally wide; only the first has labels beside it."""
    size = chosen.size
    top += LINE * (size + 1) + 3
    beside = 1 + axes.room(rows, size) + (TITLE_ROOM * size if chosen.row_title else 0)
    step = (chosen.width - beside - (count - 1) * GAP - 2) / count + GAP
    first = place(chosen, rows, columns, 1.0, top, beside + step - GAP)
    axes.put_titles(sheet, first, chosen, 0.0, top)
    return [Box(first.x + n * step, first.y, first.width, first.height) for n in range(count)]


def _put_names(
    sheet: PrintSheet,
    boxes: Sequence[Box],
    columns: Axis,
    names: Sequence[str],
    chosen: Look,
) -> None:
    """The name of each panel, above its labels."""
    size = chosen.size + 1
    above = axes.room(columns, chosen.size) + (LINE * chosen.size + 2 if chosen.column_title else 0)
    y = boxes[0].y - above - 3
    room = boxes[1].x - boxes[0].x - GAP if len(boxes) > 1 else boxes[0].width
    for box, name in zip(boxes, names, strict=False):
        sheet.text(box.x, y, shortened(name, size, room, bold=True), size, bold=True)
