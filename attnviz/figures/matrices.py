"""The figure of one head as a heatmap, and what other figures of matrices share with it.

In: numpy arrays of weights, and tokens. Out: a `Drawing`. Rows are queries and columns are keys,
as on screen; colours are those of the screen's light theme. Nothing is computed here but colours.
"""

from typing import Unpack

import numpy as np
from jaxtyping import Float32, UInt8
from numpy.typing import ArrayLike

from attnviz.figures import axes, ramp
from attnviz.figures.axes import BELOW, LINE, TITLE_ROOM, Box
from attnviz.figures.drawing import Drawing
from attnviz.figures.sheet import BLOCKED, PrintSheet
from attnviz.figures.style import (
    MAX_VECTOR,
    Axis,
    Labels,
    Look,
    Style,
    axis,
    look,
    numbers,
    require,
)

MAX_CELL = 28.0
TALLEST = 620.0  # of a matrix with many more queries than keys, in points
TITLES: Style = {"row_title": "query", "column_title": "key"}


def head(
    weights: ArrayLike, tokens: Labels, key_tokens: Labels | None = None, **style: Unpack[Style]
) -> Drawing:
    """The weights [query, key] of one head as a heatmap; `Style` has the choices.

    `key_tokens` are `tokens` unless given. Raises `BadInput` for weights that are not a matrix, or
    not as large as there are tokens.
    """
    chosen = look({**TITLES, **style})
    matrix = numbers("weights", weights)
    rows, columns = sides(matrix, tokens, key_tokens)
    require_few(matrix, chosen)
    sheet = PrintSheet(chosen.width, 0.0, chosen.title)
    top = axes.put_title(sheet, chosen)
    box = place(chosen, rows, columns, 1.0, top, chosen.width - 2)
    axes.put_titles(sheet, box, chosen, 0.0, top)
    put_labelled(sheet, box, of_weights(matrix, chosen), (rows, columns), chosen)
    start = min(box.x, chosen.width / 3)
    sheet.height = axes.put_weight_bar(
        sheet, start, box.bottom + 6, chosen, chosen.width - start - 2
    )
    return Drawing(sheet)


# --- shared with other figures -----------------------------------------------------------------


def sides(
    matrix: Float32[np.ndarray, "row column"], tokens: Labels, key_tokens: Labels | None
) -> tuple[Axis, Axis]:
    """The labels of rows and columns, as many as there are."""
    n_rows, n_columns = matrix.shape
    rows = axis("tokens", tokens, n_rows)
    if key_tokens is None:
        require(
            n_rows == n_columns,
            "weights",
            f"{n_rows} × {n_columns}",
            "as many rows as columns, or key_tokens= as well",
        )
        return rows, rows
    return rows, axis("key_tokens", key_tokens, n_columns)


def require_few(matrix: Float32[np.ndarray, "row column"], chosen: Look) -> None:
    """Refuse shapes for more cells than an editor of figures opens with ease."""
    most = max(matrix.shape)
    require(
        chosen.cells == "image" or most <= MAX_VECTOR,
        "cells",
        f"'vector' for {most} tokens",
        f"'image' for more than {MAX_VECTOR}",
    )


def place(chosen: Look, rows: Axis, columns: Axis, left: float, top: float, right: float) -> Box:
    """Where a matrix lies between two edges, with room for its labels and the names of its axes."""
    size = chosen.size
    x = left + (TITLE_ROOM * size if chosen.row_title else 0) + axes.room(rows, size)
    y = top + (LINE * size + 2 if chosen.column_title else 0) + axes.room(columns, size)
    n_rows, n_columns = len(rows), len(columns)
    beside = max(0.0, BELOW * size - (right - x) / n_columns / 2)
    width = min(MAX_CELL * n_columns, right - x - beside)
    height = min(width / n_columns * n_rows, TALLEST)
    return Box(x, y, width, height)


def put_labelled(
    sheet: PrintSheet,
    box: Box,
    colours: UInt8[np.ndarray, "row column rgb"],
    labels: tuple[Axis | None, Axis | None],
    chosen: Look,
) -> None:
    """A matrix with its frame and the labels that it has."""
    rows, columns = labels
    axes.put_matrix(sheet, box, colours, chosen)
    if rows is not None:
        axes.put_rows(sheet, box, rows, chosen.size)
    if columns is not None:
        axes.put_columns(sheet, box, columns, chosen.size)


def of_weights(
    weights: Float32[np.ndarray, "*shape"], chosen: Look
) -> UInt8[np.ndarray, "*shape rgb"]:
    """The colours of weights 0..1; NaN is grey."""
    colours = ramp.table("light")[ramp.levels(weights, chosen.scale)]
    colours[np.isnan(weights)] = ramp.rgb(BLOCKED)
    return np.asarray(colours)


def of_signed(
    values: Float32[np.ndarray, "*shape"], limit: float
) -> UInt8[np.ndarray, "*shape rgb"]:
    """The colours of signed numbers up to ±limit; what is not finite, a blocked cell, is grey."""
    colours = ramp.table("diverging_light")[ramp.signed_levels(values, limit)]
    colours[~np.isfinite(values)] = ramp.rgb(BLOCKED)
    return np.asarray(colours)


def largest(values: Float32[np.ndarray, "*shape"]) -> float:
    """The largest absolute value that is finite; 1 where there is none above 0."""
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max(initial=0.0)) or 1.0
