"""The style of a figure for print and the arrays that it shows, checked once.

In: keyword arguments and arrays of any kind. Out: a `Look` and plain float32 arrays with a label
for each row and column. Everything else is refused with what was found and what is allowed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict, get_args

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.errors import not_allowed
from attnviz.figures.ramp import SCALES, Scale
from attnviz.figures.sheet import POINTS, Cells
from attnviz.figures.text_width import legible
from attnviz.types import Tokens

Labels = Sequence[str] | Tokens
COLUMN, PAGE = 3.25, 6.75  # inches: one column of a two-column paper, and both
NARROWEST, WIDEST = 2.0, 20.0
SMALLEST, LARGEST = 3.0, 24.0
MAX_VECTOR = 64  # cells along a side that are drawn as shapes


class Style(TypedDict, total=False):
    """The choices of every figure.

    `width_in` is the width in inches: 3.25 for a column, 6.75 for a page. `size_pt` is the size of
    the labels in points. `scale` maps weights to colours, "sqrt" as on screen, "linear" or "log".
    `cells` is "image", or "vector" for matrices of up to 64 × 64. `title` stands above the figure;
    `row_title` and `column_title` name the axes.
    """

    width_in: float
    size_pt: float
    scale: Scale
    cells: Cells
    title: str
    row_title: str
    column_title: str


@dataclass(frozen=True)
class Look:
    """The choices with their defaults, in points."""

    width: float
    size: float
    scale: Scale
    cells: Cells
    title: str
    row_title: str
    column_title: str


@dataclass(frozen=True, eq=False)
class Axis:
    """The labels along one side; `special` ones, which stand for no text, are drawn paler."""

    labels: tuple[str, ...]
    special: Bool[np.ndarray, " label"]

    def __len__(self) -> int:
        return len(self.labels)


def look(style: Style, unused: Sequence[str] = ()) -> Look:
    """The choices with their defaults, each checked; `unused` ones are refused."""
    known = [name for name in Style.__annotations__ if name not in unused]
    unknown = sorted(style.keys() - set(known))
    require(not unknown, "style", ", ".join(unknown), ", ".join(known))
    width_in, size_pt = style.get("width_in", COLUMN), style.get("size_pt", 7.0)
    _require_number("width_in", width_in, NARROWEST, WIDEST)
    _require_number("size_pt", size_pt, SMALLEST, LARGEST)
    scale, cells = style.get("scale", "sqrt"), style.get("cells", "image")
    require(scale in SCALES, "scale", repr(scale), ", ".join(SCALES))
    require(cells in get_args(Cells), "cells", repr(cells), ", ".join(get_args(Cells)))
    title = style.get("title", "")
    row_title, column_title = style.get("row_title", ""), style.get("column_title", "")
    for name, text in (
        ("title", title), ("row_title", row_title), ("column_title", column_title)
    ):  # fmt: skip
        require(isinstance(text, str), name, type(text).__name__, "a text")
    texts = map(legible, (title, row_title, column_title))
    return Look(POINTS * width_in, float(size_pt), scale, cells, *texts)


def require(holds: bool, name: str, shown: str, allowed: str) -> None:
    """Raise `BadInput` about one argument unless the condition holds."""
    if not holds:
        raise not_allowed(name, shown, allowed)


def _require_number(name: str, value: object, least: float, most: float) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    inside = is_number and least <= value <= most  # type: ignore[operator]
    require(inside, name, repr(value), f"a number from {least:g} to {most:g}")


def numbers(name: str, values: object, dimensions: int = 2) -> Float32[np.ndarray, "..."]:
    """An array of so many dimensions as float32; torch tensors on any device are taken as well."""
    for method in ("detach", "cpu"):
        values = getattr(values, method, lambda same=values: same)()
    try:
        array = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError):
        array = np.empty(0, dtype=np.float32)
    shown = f"{type(values).__name__} of shape {list(array.shape)}"
    fits = array.ndim == dimensions and 0 not in array.shape
    require(fits, name, shown, f"an array of {dimensions} dimensions")
    return array


def axis(name: str, labels: Labels, count: int) -> Axis:
    """A label for each of `count` rows or columns."""
    if isinstance(labels, Tokens):
        texts, special = labels.labels, labels.special
    else:
        texts, special = tuple(map(str, labels)), np.zeros(len(labels), dtype=np.bool_)
    require(len(texts) == count, name, f"{len(texts)} labels", f"{count}, one for each")
    return Axis(tuple(map(legible, texts)), special)
