"""Marks written as SVG: text stays text, a matrix is one picture of cells or one path a colour.

In: a `PrintSheet`. Out: an SVG document that needs nothing from outside. Cells are enlarged before
they are embedded: some viewers blur small pictures, whatever `image-rendering` says.
"""

import base64
from collections import defaultdict
from functools import singledispatch
from xml.sax.saxutils import escape

import numpy as np
from jaxtyping import UInt8

from attnviz.figures import png
from attnviz.figures.sheet import WHITE, Frame, Mark, Matrix, PrintSheet, Segment, Text
from attnviz.figures.text_width import legible

FONTS = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', 'Noto Sans CJK JP', sans-serif"
MIN_PIXELS = 1024  # along the longer side of an embedded picture


def document(sheet: PrintSheet) -> str:
    """The whole figure, in points."""
    width, height = _number(sheet.width), _number(sheet.height)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}pt" height="{height}pt"'
        f' viewBox="0 0 {width} {height}" font-family="{escape(FONTS)}" role="img">'
    )
    lines = [head]
    if sheet.title:
        lines.append(f"<title>{escape(legible(sheet.title))}</title>")
    lines.append(f'<rect width="{width}" height="{height}" fill="{WHITE}"/>')
    lines += map(written, sheet.marks)
    return "\n".join([*lines, "</svg>\n"])


@singledispatch
def written(mark: Mark) -> str:
    """The SVG of one mark."""
    raise AssertionError(f"no SVG for {type(mark).__name__}")


@written.register
def _text(mark: Text) -> str:
    x, y = _number(mark.x), _number(mark.y)
    turn = f' transform="rotate(-90 {x} {y})"' if mark.turned else ""
    anchor = "" if mark.anchor == "start" else f' text-anchor="{mark.anchor}"'
    weight = ' font-weight="600"' if mark.bold else ""
    return (
        f'<text x="{x}" y="{y}" font-size="{_number(mark.size)}"{anchor}{weight}'
        f' fill="{mark.colour}"{turn}>{escape(mark.text)}</text>'
    )


@written.register
def _line(mark: Segment) -> str:
    return (
        f'<path d="M{_number(mark.x0)} {_number(mark.y0)}L{_number(mark.x1)} {_number(mark.y1)}"'
        f' stroke="{mark.colour}" stroke-width="{_number(mark.width)}"/>'
    )


@written.register
def _frame(mark: Frame) -> str:
    return (
        f'<rect x="{_number(mark.x)}" y="{_number(mark.y)}" width="{_number(mark.width)}"'
        f' height="{_number(mark.height)}" fill="none" stroke="{mark.colour}"'
        f' stroke-width="{_number(mark.line)}"/>'
    )


@written.register
def _matrix(mark: Matrix) -> str:
    return _paths(mark) if mark.cells == "vector" else _picture(mark)


def _picture(mark: Matrix) -> str:
    """All cells as one PNG."""
    enlarged = max(1, -(-MIN_PIXELS // max(mark.colours.shape[:2])))
    data = base64.b64encode(png.encoded(mark.colours, enlarged)).decode()
    return (
        f'<image x="{_number(mark.x)}" y="{_number(mark.y)}" width="{_number(mark.width)}"'
        f' height="{_number(mark.height)}" preserveAspectRatio="none"'
        f' image-rendering="pixelated" href="data:image/png;base64,{data}"/>'
    )


def _paths(mark: Matrix) -> str:
    """One path for each colour, whose parts are runs of equal cells along a row."""
    n_rows, n_columns = mark.colours.shape[:2]
    runs: defaultdict[tuple[int, ...], list[str]] = defaultdict(list)
    for row, colours in enumerate(mark.colours):
        for start, stop in _runs(colours):
            count = stop - start
            runs[tuple(colours[start].tolist())].append(f"M{start} {row}h{count}v1h-{count}z")
    paths = "".join(
        f'<path fill="#{red:02x}{green:02x}{blue:02x}" d="{"".join(parts)}"/>'
        for (red, green, blue), parts in runs.items()
    )
    scale = f"{mark.width / n_columns:.5f} {mark.height / n_rows:.5f}"
    place = f"translate({_number(mark.x)} {_number(mark.y)}) scale({scale})"
    return f'<g shape-rendering="crispEdges" transform="{place}">{paths}</g>'


def _runs(colours: UInt8[np.ndarray, "column rgb"]) -> list[tuple[int, int]]:
    """Where runs of one colour start and stop."""
    changes = (np.diff(colours.astype(int), axis=0) != 0).any(axis=1).nonzero()[0] + 1
    bounds = [0, *changes.tolist(), len(colours)]
    return list(zip(bounds[:-1], bounds[1:], strict=True))


def _number(value: float) -> str:
    """A number with at most two digits behind the point."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
