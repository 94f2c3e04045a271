"""Figures of weights as lines: from queries on the left to the keys that they attend to.

In: numpy arrays of weights, and tokens. Out: a `Drawing`. A line is the thicker and the darker the
larger its weight; lines are opaque, and the strongest are drawn last.
"""

from dataclasses import dataclass
from typing import Unpack

import numpy as np
from jaxtyping import Float32
from numpy.typing import ArrayLike

from attnviz.figures import axes
from attnviz.figures.axes import BASELINE, GAP, LINE, LONGEST
from attnviz.figures.drawing import Drawing
from attnviz.figures.matrices import sides
from attnviz.figures.ramp import rgb
from attnviz.figures.sheet import INK, MUTED, PRIMARY, Anchor, PrintSheet, Segment
from attnviz.figures.style import Axis, Labels, Look, Style, look, numbers, require
from attnviz.figures.text_width import shortened, widest

MIN_WEIGHT = 0.005  # below, a line cannot be told from the paper
THINNEST, THICKEST = 0.3, 2.2
PALEST = 0.08
PITCH, LOWEST_PITCH, HIGHEST = 1.55, 0.45, 620.0  # of rows, in sizes of the labels; of the figure
DEFAULT_TOP = 2
UNUSED = ("scale", "cells")


def lines(
    weights: ArrayLike,
    tokens: Labels,
    key_tokens: Labels | None = None,
    *,
    top: int = DEFAULT_TOP,
    **style: Unpack[Style],
) -> Drawing:
    """The `top` strongest weights of each query as lines to its keys."""
    chosen = look({"row_title": "query", "column_title": "key", **style}, UNUSED)
    matrix = numbers("weights", weights)
    is_count = isinstance(top, int) and not isinstance(top, bool) and top > 0
    require(is_count, "top", repr(top), "a whole number from 1 on")
    rows, columns = sides(matrix, tokens, key_tokens)
    return Drawing(_sheet(_strongest(matrix, top), rows, columns, chosen))


def alignment(
    weights: ArrayLike, target: Labels, source: Labels, **style: Unpack[Style]
) -> Drawing:
    """Weights [target, source] between the words of two sentences, as lines; none is left out.

    `attnviz.experiment.outputs.alignment.align` gives such weights, in words, for each
    cross-attention head.
    """
    chosen = look({"row_title": "target", "column_title": "source", **style}, UNUSED)
    matrix = numbers("weights", weights)
    rows, columns = sides(matrix, target, source)
    return Drawing(_sheet(matrix, rows, columns, chosen))


def _strongest(
    weights: Float32[np.ndarray, "row column"], top: int
) -> Float32[np.ndarray, "row column"]:
    """The weights, 0 but for the strongest of each row."""
    if top >= weights.shape[1]:
        return weights
    order = np.argsort(-np.nan_to_num(weights), axis=1, kind="stable")[:, :top]
    kept = np.zeros_like(weights)
    np.put_along_axis(kept, order, np.take_along_axis(weights, order, axis=1), axis=1)
    return kept


@dataclass(frozen=True)
class _Columns:
    """The two columns of labels: where their lines end, and how far down each label is."""

    near: float
    far: float
    top: float
    pitches: tuple[float, float]

    def y(self, side: int, at: int) -> float:
        return self.top + (at + 0.5) * self.pitches[side]


def _sheet(
    weights: Float32[np.ndarray, "row column"], rows: Axis, columns: Axis, chosen: Look
) -> PrintSheet:
    """Labels in two columns as high as one another, and lines between them."""
    size = chosen.size
    sheet = PrintSheet(chosen.width, 0.0, chosen.title)
    top = axes.put_title(sheet, chosen)
    height = min(HIGHEST, PITCH * size * max(len(rows), len(columns)))
    titles = (chosen.row_title, chosen.column_title)
    room = min(LONGEST * size, widest((*rows.labels, *columns.labels, *titles), size))
    begin = top + (LINE * size + 3 if chosen.row_title or chosen.column_title else 0)
    at = _Columns(
        near=1 + room + GAP,
        far=chosen.width - 1 - room - GAP,
        top=begin,
        pitches=(height / len(rows), height / len(columns)),
    )
    near, far = (shortened(title, size, room) for title in titles)
    sheet.text(at.near - GAP, top + size, near, size, "end", colour=MUTED)
    sheet.text(at.far + GAP, top + size, far, size, colour=MUTED)
    _put_lines(sheet, weights, at)
    _put_labels(sheet, rows, at.near - GAP, "end", at, 0, size)
    _put_labels(sheet, columns, at.far + GAP, "start", at, 1, size)
    sheet.height = begin + height + 3
    return sheet


def _put_lines(sheet: PrintSheet, weights: Float32[np.ndarray, "row column"], at: _Columns) -> None:
    """A line for each weight that can be seen, the weakest first."""
    visible = np.nan_to_num(weights) >= MIN_WEIGHT
    places = np.argwhere(visible)
    values = np.clip(weights[visible], 0, 1)
    for place in np.argsort(values, kind="stable"):
        query, key = places[place].tolist()
        share = float(values[place]) ** 0.5
        sheet.add(
            Segment(
                at.near, at.y(0, query), at.far, at.y(1, key),
                _mixed(PALEST + (1 - PALEST) * share), THINNEST + (THICKEST - THINNEST) * share,
            )
        )  # fmt: skip


def _mixed(share: float) -> str:
    """So much of the primary colour on white."""
    parts = (round(255 + (part - 255) * share) for part in rgb(PRIMARY))
    return "#" + "".join(f"{part:02x}" for part in parts)


def _put_labels(
    sheet: PrintSheet, axis: Axis, x: float, anchor: Anchor, at: _Columns, side: int, size: float
) -> None:
    every = int(np.ceil(LINE * size / at.pitches[side]))
    for place in range(0, len(axis), every):
        text = shortened(axis.labels[place], size, LONGEST * size)
        colour = MUTED if axis.special[place] else INK
        sheet.text(x, at.y(side, place) + BASELINE * size, text, size, anchor, colour=colour)
