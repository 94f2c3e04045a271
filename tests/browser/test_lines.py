"""The lines of Head: how many, of which heads, from which token, side by side or stacked."""

from functools import partial

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import attnviz
from attnviz.models.loaded_model import LoadedModel
from tests.browser.conftest import OpenVisit
from tests.support.canvas import pixels
from tests.support.visit import Visit, data, expect_data
from tests.support.waiting import expect_equal, expect_true

TEXT = "The animal didn't cross the street because it was too tired."
N, LAYER, HEAD = 16, 1, 8
Point = tuple[float, float]


def lines(visit: Visit) -> Locator:
    return visit.page.locator(".av-lines canvas")


def places(canvas: Locator) -> tuple[float, float, float, float]:
    found = data(canvas)
    start, pitch, near, far = (float(found[name]) for name in ("from", "pitch", "near", "far"))
    return start, pitch, near, far


def ends(canvas: Locator, query: int, key: int) -> tuple[Point, Point]:
    """Where the line of a weight begins and ends."""
    start, pitch, near, far = places(canvas)
    a, b = start + (query + 0.5) * pitch, start + (key + 0.5) * pitch
    return ((a, near), (b, far)) if "across" in data(canvas) else ((near, a), (far, b))


def drawn(canvas: Locator, query: int, key: int) -> bool:
    """Whether anything but background lies near the start of a line, where few others run."""
    (x0, y0), (x1, y1) = ends(canvas, query, key)
    near = [(x0 + at * (x1 - x0), y0 + at * (y1 - y0)) for at in (0.3, 0.5, 0.7)]
    canvas_colours = canvas.evaluate(
        """(canvas, points) => points.map(([x, y]) => {
            const ratio = canvas.width / parseFloat(canvas.style.width);
            const at = [Math.floor(x * ratio) - 1, Math.floor(y * ratio) - 1, 3, 3];
            const { data } = canvas.getContext("2d").getImageData(...at);
            return data.filter((_, i) => i % 4 === 3).some((alpha) => alpha > 30);
        })""",
        [list(point) for point in near],
    )
    return all(canvas_colours)


def set_top(visit: Visit, place: int) -> None:
    """Moves the slider as a visitor's keys do."""
    slider = visit.page.locator(".av-line-top input")
    slider.focus()
    slider.press("Home")
    for _ in range(place - 1):
        slider.press("ArrowRight")


def test_one_line_for_each_query_leads_to_its_strongest_key(
    visit: OpenVisit, minilm: LoadedModel
) -> None:
    weights = attnviz.capture(minilm, TEXT).weights(LAYER, HEAD)
    opened = visit("head", text=TEXT, layer=LAYER, head=HEAD)
    before = len(opened.seen.sent)
    for across in (False, True):
        if across:
            opened.page.get_by_role("radio", name="stacked").click()
            opened.wait_for_parameters(across=1, top=1)
        else:
            set_top(opened, 1)
        expect_data(lines(opened), top=1, across=1 if across else None)
        for query in range(N):
            key = int(weights[query].argmax())
            if weights[query, key] > 0.2:
                expect_true(partial(drawn, lines(opened), query, key))
    set_top(opened, 11)
    expect_data(lines(opened), top=0)
    expect(opened.page.locator(".av-line-top")).to_contain_text("all")
    opened.wait_for_parameters(top=0)
    assert opened.seen.sent[before:] == []


@pytest.mark.slow
def test_several_heads_have_colours_and_a_token_of_either_side_is_focused(
    visit: OpenVisit, minilm: LoadedModel
) -> None:
    opened = visit("head", text=TEXT, layer=LAYER, head=HEAD, top=1)
    before, canvas = len(opened.seen.sent), lines(opened)
    opened.page.get_by_role("button", name="Keep the lines of L1.H8").click()
    opened.page.keyboard.press("]")
    expect_data(canvas, layer=1, head=9, heads=2)
    opened.wait_for_parameters(beside="L1.H8", head=9)
    expect(opened.page.locator(".av-line-head")).to_have_text(["L1.H9", "L1.H8×"])

    start, pitch, _, far = places(canvas)
    key = int(np.argmax(attnviz.capture(minilm, TEXT).weights(LAYER, HEAD)[4]))
    canvas.click(position={"x": far + 10, "y": start + (key + 0.5) * pitch})
    expect_data(canvas, key=key, query=None)

    def greens() -> set[bool]:
        """Of the tinted points near the queries' ends of the lines: which are green."""
        start, pitch, near, _ = places(canvas)
        column = [(near + 12, float(at)) for at in np.linspace(start, start + N * pitch, 200)]
        tinted = [colour for colour in pixels(canvas, column) if max(colour) - min(colour) > 60]
        return {colour[1] > max(colour[0], colour[2]) for colour in tinted}

    expect_equal(greens, {True, False})
    canvas.focus()
    opened.page.keyboard.press("ArrowDown")
    expect_data(canvas, key=key + 1, query=None)
    opened.page.keyboard.press("ArrowLeft")
    expect_data(canvas, query=key + 1, key=None)
    opened.wait_for_parameters(query=key + 1)
    opened.page.get_by_role("button", name="Remove the lines of L1.H8").click()
    expect_data(canvas, heads=1)
    opened.wait_for_parameters(beside=None)
    assert opened.seen.sent[before:] == []
