"""The pixel in the middle of a cell has the colour of the library's number, in both themes."""

from functools import partial

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import attnviz
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import STAGES, StepView
from tests.browser.conftest import OpenVisit
from tests.support.canvas import Colour, Palette, cell_colours, data, pixels
from tests.support.cases import mostly_slow
from tests.support.visit import Visit, expect_data
from tests.support.waiting import eventually

TEXT = "The animal didn't cross the street because it was too tired."
N = 16
LAYER, HEAD = 3, 8
BESIDE_ITS_NUMBER = 0.14  # of a cell: the number that is printed in its middle does not reach there
CELLS = [(row, col) for row in range(N) for col in range(N)]


def weights_of(minilm: LoadedModel) -> np.ndarray:
    return attnviz.capture(minilm, TEXT).weights(layer=LAYER, head=HEAD)


def check_weights(
    canvas: Locator, weights: np.ndarray, palette: Palette, scale: str = "sqrt"
) -> None:
    shown = cell_colours(canvas, CELLS, N, N)
    wrong = [
        (cell, colour, float(weights[cell]))
        for cell, colour in zip(CELLS, shown, strict=True)
        if colour not in palette.of_weight(float(weights[cell]), scale)
    ]
    assert not wrong, wrong[:5]
    assert len(set(shown)) > 20  # a blank canvas would match nothing but itself


def test_a_wrong_number_would_be_seen(minilm: LoadedModel, palettes: dict[str, Palette]) -> None:
    """The colours of two heads differ in most cells: the tests below can fail."""
    capture = attnviz.capture(minilm, TEXT)
    mine, other = capture.weights(LAYER, HEAD), capture.weights(LAYER, HEAD + 1)
    same = [
        bool(palettes["light"].of_weight(float(a)) & palettes["light"].of_weight(float(b)))
        for a, b in zip(mine.flat, other.flat, strict=True)
    ]
    assert sum(same) < 0.2 * len(same)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", mostly_slow(["light", "dark"], 1))
def test_overview_preview(
    visit: OpenVisit, minilm: LoadedModel, palettes: dict[str, Palette], scheme: str
) -> None:
    opened = visit("overview", text=TEXT, layer=LAYER, head=HEAD, scheme=scheme)
    canvas = opened.canvas("Attention weights of")
    expect_data(canvas, layer=LAYER, head=HEAD)
    wanted = weights_of(minilm)
    eventually(lambda: check_weights(canvas, wanted, palettes[scheme]))


@pytest.mark.parametrize(
    ("scheme", "scale"), mostly_slow([("dark", "log"), ("light", "sqrt"), ("light", "linear")], 1)
)
def test_head_heatmap(
    visit: OpenVisit, minilm: LoadedModel, palettes: dict[str, Palette], scheme: str, scale: str
) -> None:
    opened = visit("head", text=TEXT, layer=LAYER, head=HEAD, scheme=scheme, scale=scale)
    canvas = opened.canvas("Attention weights of")
    expect_data(canvas, layer=LAYER, head=HEAD, scale=scale)
    wanted = weights_of(minilm)
    eventually(lambda: check_weights(canvas, wanted, palettes[scheme], scale))


@pytest.mark.slow
def test_head_heatmap_after_a_switch(
    visit: OpenVisit, minilm: LoadedModel, palettes: dict[str, Palette]
) -> None:
    opened = visit("head", text=TEXT, layer=LAYER, head=HEAD - 1)
    canvas = opened.canvas("Attention weights of")
    canvas.focus()
    opened.page.keyboard.press("]")
    expect_data(canvas, layer=LAYER, head=HEAD)
    wanted = weights_of(minilm)
    eventually(lambda: check_weights(canvas, wanted, palettes["light"]))


def test_overview_thumbnails(
    visit: OpenVisit, minilm: LoadedModel, palettes: dict[str, Palette]
) -> None:
    """Every head's thumbnail is its own: each has a pixel of the colour of its largest weight."""
    opened = visit("overview", text=TEXT, layer=0, head=0)
    everything = attnviz.capture(minilm, TEXT).all_weights()

    def check() -> None:
        found = thumbnails(opened)
        for place, weights in np.ndenumerate(everything.max(axis=(2, 3))):
            strongest = palettes["light"].of_weight(float(weights))
            assert strongest & found[place], place

    eventually(check)


def thumbnails(visit: Visit) -> dict[tuple[int, ...], set[Colour]]:
    """(layer, head) → the colours inside its thumbnail."""
    rows = visit.canvas("All heads of").evaluate(
        """(canvas) => {
            const { x, y, size, gap, step } = Object.fromEntries(
                Object.entries(canvas.dataset).map(([name, value]) => [name, Number(value)]));
            const ctx = canvas.getContext("2d"), found = [];
            for (let layer = 0; layer < 6; layer++) for (let head = 0; head < 12; head++) {
                const left = x + head * (size + gap), top = y + layer * step;
                const { data } = ctx.getImageData(left, top, size, size);
                const colours = new Set();
                for (let i = 0; i < data.length; i += 4) colours.add(data.slice(i, i + 3).join());
                found.push([layer, head, [...colours]]);
            }
            return found;
        }"""
    )
    return {(layer, head): {_colour(text) for text in colours} for layer, head, colours in rows}


def _colour(text: str) -> Colour:
    red, green, blue = map(int, text.split(","))
    return red, green, blue


@pytest.mark.slow
@pytest.mark.parametrize("scheme", mostly_slow(["dark", "light"], 1))
def test_steps_panels(
    visit: OpenVisit, minilm: LoadedModel, palettes: dict[str, Palette], scheme: str
) -> None:
    steps = attnviz.derive(attnviz.capture(minilm, TEXT).call(LAYER), HEAD)
    opened = visit("steps", text=TEXT, layer=LAYER, head=HEAD, scheme=scheme)
    for view in steps.views():
        if view.stage in ("x", "concat", "projected"):  # more columns than pixels: cells are pooled
            continue
        # scores, scaled and masked ones share one scale
        widest = steps.scores if view.stage in ("scaled", "masked") else view.values
        limit = float(np.abs(np.asarray(widest)).max())
        eventually(partial(check_panel, opened, view, palettes[scheme], limit))
    panels = opened.page.locator(".panel canvas[role=img]")
    expect(panels).to_have_count(
        len([s for s in STAGES if s in {view.stage for view in steps.views()}])
    )


def check_panel(visit: Visit, view: StepView, palette: Palette, limit: float) -> None:
    canvas = visit.page.locator(f".panel[data-stage={view.stage}] canvas[role=img]")
    rows, cols = view.values.shape
    cells = [(row, col) for row in range(rows) for col in range(cols)]
    shown = cell_colours(canvas, cells, rows, cols, BESIDE_ITS_NUMBER)
    for cell, colour in zip(cells, shown, strict=True):
        value = float(view.values[cell])
        allowed = palette.of_signed(value, limit) if view.signed else palette.of_weight(value)
        assert colour in allowed, (view.stage, cell, value)


@pytest.mark.parametrize("scheme", mostly_slow(["dark", "light"], 1))
def test_what_a_mask_hides_is_hatched_in_all_heads_and_in_one(
    visit: OpenVisit, palettes: dict[str, Palette], scheme: str
) -> None:
    """Hidden cells have colours that no weight has; those that may be seen have their weights'."""
    asked = {"model": "stories", "text": "The cat sat on the mat.", "layer": 0, "head": 0}
    opened = visit("overview", **asked, scheme=scheme)
    weights = attnviz.capture(attnviz.load("stories"), asked["text"]).weights(0, 0)
    n = len(weights)
    pairs = [*np.ndindex(n, n)]
    hidden = [(row, col) for row, col in pairs if col > row]
    seen = [(row, col) for row, col in pairs if col <= row]
    palette = palettes[scheme]

    def check(canvas: Locator) -> None:
        for (row, col), colour in zip(seen, cell_colours(canvas, seen, n, n), strict=True):
            assert colour in palette.of_weight(float(weights[row, col])), (row, col)
        shown = cell_colours(canvas, hidden, n, n)
        assert not {*shown} & palette.of_weight(0.0)

    preview = opened.canvas("Attention weights of")
    expect_data(preview, layer=0, head=0)
    eventually(lambda: check(preview))
    board = opened.canvas("All heads of")
    expect_data(board, layer=0, head=0)

    def check_tile() -> None:
        drawn = data(board)
        x, y, size = (float(drawn[name]) for name in ("x", "y", "size"))
        cell = size / n
        shown = pixels(board, [(x + (c + 0.5) * cell, y + (r + 0.5) * cell) for r, c in hidden])
        assert not {*shown} & palette.of_weight(0.0)

    eventually(check_tile)
    head = visit("head", **asked, scheme=scheme).canvas("Attention weights of")
    expect_data(head, layer=0, head=0)
    eventually(lambda: check(head))
    one = visit("switches", **asked, scheme=scheme).page.locator(".av-switches-tiny").first
    expect(one).to_have_attribute("data-drawn", "1")
    clear = one.evaluate(
        """(canvas) => {
            const { width, height } = canvas;
            const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
            return Array.from({ length: width * height }, (_, i) => Number(data[4 * i + 3] === 0));
        }"""
    )
    assert clear == np.triu(np.ones((n, n), int), 1).ravel().tolist()
