"""What canvases show, pixel by pixel, and what they ought to show for a number of the library.

In: a canvas with its data-* attributes, or a number. Out: colours as (red, green, blue). The two
colour tables are taken from the app's own `colors.js`, loaded as the plain ES module that it is;
how a number finds its place in a table is written here once more, so that either can be wrong.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from playwright.sync_api import Browser, Locator, Page, Route

from attnviz.pictures.shared.bundle import FOLDER
from tests.support.visit import data
from tests.support.waiting import at_rest

Colour = tuple[int, int, int]
MODULES = "http://modules.test"  # answered from the folder of the components, never looked up
LOG_FLOOR = 1e-4
# how near a number may lie to the border between two colours for either of them to be right
BORDER = 0.02


@dataclass(frozen=True)
class Palette:
    """The colour tables of one theme: for values from 0 up, and for signed ones."""

    sequential: tuple[Colour, ...]
    diverging: tuple[Colour, ...]

    def of_weight(self, weight: float, scale: str = "sqrt") -> set[Colour]:
        """The colours that a weight may have."""
        return {self.sequential[level] for level in _levels(255 * place(weight, scale))}

    def of_signed(self, value: float, limit: float) -> set[Colour]:
        """The colours that a signed value may have when ±limit are the ends of the table."""
        return {self.diverging[level] for level in _levels(127.5 + 127.5 * value / limit)}


def place(weight: float, scale: str) -> float:
    """Where a weight stands on the scale, 0 to 1."""
    if scale == "linear":
        return weight
    if scale == "sqrt":
        return math.sqrt(weight)
    return 0.0 if weight <= LOG_FLOOR else 1 - math.log(weight) / math.log(LOG_FLOOR)


def _levels(exact: float) -> set[int]:
    near = (exact - BORDER, exact + BORDER)
    return {min(255, max(0, math.floor(value + 0.5))) for value in near}


@contextmanager
def module_page(browser: Browser) -> Iterator[Page]:
    """A bare page that can import the components' modules, each a plain ES module, by its path."""

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(f"{MODULES}/")
        if not name:
            route.fulfill(body="<!doctype html>", content_type="text/html")
            return
        route.fulfill(path=FOLDER / name, content_type="text/javascript")

    context = browser.new_context()
    context.route(f"{MODULES}/**", answer)
    page = context.new_page()
    page.goto(f"{MODULES}/")
    yield page
    context.close()


def load_palettes(browser: Browser) -> dict[str, Palette]:
    """The tables of the light and the dark theme."""
    with module_page(browser) as page:
        tables = page.evaluate(
            """async () => {
                const { sequential, diverging } = await import("/shared/colors.js");
                const parts = (v) => [v & 255, (v >> 8) & 255, (v >> 16) & 255];
                const table = (lut) => [...lut].map(parts);
                return Object.fromEntries([["light", false], ["dark", true]].map(([name, dark]) =>
                    [name, [table(sequential(dark)), table(diverging(dark))]]));
            }"""
        )
    return {
        name: Palette(*(tuple(tuple(colour) for colour in table) for table in both))
        for name, both in tables.items()
    }


def cell_colours(
    canvas: Locator,
    cells: Sequence[tuple[int, int]],
    n_rows: int,
    n_cols: int,
    share: float = 0.5,
) -> list[Colour]:
    """A pixel of each (row, column) of the matrix that the canvas shows.

    It lies this share of the cell's width and height from its upper left corner; in the middle
    unless told otherwise, where a number may be printed.
    """
    return pixels(canvas, cell_points(canvas, cells, n_rows, n_cols, share))


def cell_middle(
    canvas: Locator, row: int, col: int, n_rows: int, n_cols: int
) -> tuple[float, float]:
    """The middle of a cell, in CSS pixels from the canvas's corner, once the canvas is at rest.

    A canvas whose page is still being laid out grows after it is drawn: a pointer that was sent
    to the old place of a cell rests on its neighbour.
    """
    return at_rest(lambda: cell_points(canvas, [(row, col)], n_rows, n_cols)[0])


def cell_points(
    canvas: Locator,
    cells: Sequence[tuple[int, int]],
    n_rows: int,
    n_cols: int,
    share: float = 0.5,
) -> list[tuple[float, float]]:
    """A point of each cell (see `cell_colours`), in CSS pixels from the canvas's corner."""
    x, y, w, h = plot(canvas)
    return [(x + (col + share) * w / n_cols, y + (row + share) * h / n_rows) for row, col in cells]


def plot(canvas: Locator) -> tuple[float, float, float, float]:
    """The rectangle of the matrix in a canvas: x, y, width, height in CSS pixels."""
    found = data(canvas)
    values = found["plot"].split(",") if "plot" in found else [found[name] for name in "xywh"]
    x, y, w, h = map(float, values)
    return x, y, w, h


def pixels(canvas: Locator, points: Sequence[tuple[float, float]]) -> list[Colour]:
    """The colours at these points, read from the canvas itself."""
    found: list[list[int]] = canvas.evaluate(
        """(canvas, points) => {
            const ratio = canvas.width / parseFloat(canvas.style.width);
            const places = points.map((point) => point.map((at) => Math.floor(at * ratio)));
            const [xs, ys] = [0, 1].map((axis) => places.map((place) => place[axis]));
            const [left, top] = [Math.min(...xs), Math.min(...ys)];
            const [wide, high] = [Math.max(...xs) - left + 1, Math.max(...ys) - top + 1];
            const { data } = canvas.getContext("2d").getImageData(left, top, wide, high);
            return places.map(([x, y]) => {
                const at = 4 * ((y - top) * wide + x - left);
                return [...data.slice(at, at + 3)];
            });
        }""",
        [list(point) for point in points],
    )
    return [(red, green, blue) for red, green, blue in found]


def matrix_colours(
    canvas: Locator, weights: np.ndarray, palette: Palette
) -> tuple[list[tuple[float, float]], list[set[Colour]]]:
    """Points of a matrix and the colours each may have, on the square-root scale.

    One point per cell, or per pixel where there are more cells than pixels: then the largest weight
    of the cells in it decides.
    """
    x, y, w, h = plot(canvas)
    rows, cols = weights.shape
    n_down, n_across = min(rows, math.floor(h)), min(cols, math.floor(w))
    strongest = np.zeros((n_down, n_across), dtype=weights.dtype)
    row_of, col_of = np.arange(rows) * n_down // rows, np.arange(cols) * n_across // cols
    np.maximum.at(strongest, (row_of[:, None], col_of[None, :]), weights)
    points = [
        (x + (col + 0.5) * w / n_across, y + (row + 0.5) * h / n_down)
        for row in range(n_down)
        for col in range(n_across)
    ]
    return points, [palette.of_weight(float(weight)) for weight in strongest.flat]
