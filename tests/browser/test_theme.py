"""Light and dark: page and canvases follow the visitor's scheme, also while the page is open."""

from itertools import product

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenVisit
from tests.support.canvas import Colour, cell_colours
from tests.support.cases import mostly_slow
from tests.support.visit import Visit, data, expect_data
from tests.support.waiting import expect_equal, expect_true

TEXT = "The animal didn't cross the street because it was too tired."
N = 16
CANVAS = {
    "": ".av-grid-side canvas >> nth=0",
    "head": ".av-head-left canvas[data-layer]",
    "steps": ".panel[data-stage=weights] canvas[role=img]",
    "masks": ".map[data-sentence='0'] canvas[role=img]",
}


def luminance(colour: Colour) -> float:
    return (0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2]) / 255


def background(visit: Visit) -> Colour:
    red, green, blue = visit.page.get_by_test_id("stApp").evaluate(
        "(node) => getComputedStyle(node).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
    )
    return red, green, blue


def faintest_cell(canvas: Locator) -> Colour:
    """The colour of the weight nearest to 0: the end of the table that is next to the page's."""
    cells = [(row, col) for row in range(N) for col in range(N)]
    found = cell_colours(canvas, cells, N, N, share=0.2)  # beside a number that may be printed
    page_is_dark = luminance(found[1]) < 0.3
    return (min if page_is_dark else max)(found, key=luminance)


@pytest.mark.parametrize(
    ("path", "scheme"),
    mostly_slow(product(CANVAS, ("light", "dark")), [("", "dark")]),
)
def test_page_and_canvas_have_one_theme(look: OpenVisit, path: str, scheme: str) -> None:
    opened = look(path, text=TEXT, layer=5, head=11, scheme=scheme)
    canvas = opened.page.locator(CANVAS[path])
    expect_equal(lambda: luminance(background(opened)) < 0.2, scheme == "dark")
    expect_equal(lambda: luminance(faintest_cell(canvas)) < 0.3, scheme == "dark")


def test_texts_and_canvases_are_set_in_the_font_of_the_app(look: OpenVisit) -> None:
    opened = look("head", text=TEXT, layer=5, head=11, scheme="light")
    loaded = "[...document.fonts].some((f) => f.family === 'Inter' && f.status === 'loaded')"
    opened.wait_until(lambda: opened.page.evaluate(loaded))
    families = opened.page.locator("h1").evaluate("(node) => getComputedStyle(node).fontFamily")
    assert families.startswith("Inter")
    expect(opened.page.locator("html[data-font=own]")).to_be_attached()


@pytest.mark.slow
def test_a_change_of_scheme_repaints_the_canvas_and_keeps_the_head(visit: OpenVisit) -> None:
    opened = visit("head", text=TEXT, layer=4, head=1, scheme="light")
    canvas = opened.page.locator(CANVAS["head"])
    canvas.focus()
    opened.page.keyboard.press("]")
    expect_data(canvas, layer=4, head=2)
    expect_true(lambda: luminance(faintest_cell(canvas)) > 0.7)
    drawn = data(canvas)["drawn"]
    opened.page.emulate_media(color_scheme="dark")
    expect(canvas).not_to_have_attribute("data-drawn", drawn)
    opened.wait_until(lambda: luminance(background(opened)) < 0.2)
    opened.wait_until(lambda: luminance(faintest_cell(canvas)) < 0.3)
    expect_data(canvas, layer=4, head=2)


def test_the_switch_repaints_page_and_canvas_and_the_browser_keeps_it(visit: OpenVisit) -> None:
    opened = visit("head", text=TEXT, layer=3, head=1, scheme="light")
    canvas = opened.page.locator(CANVAS["head"])
    expect_true(lambda: luminance(faintest_cell(canvas)) > 0.7)
    opened.open_menu("menu.more")
    opened.page.get_by_role("radio", name="Dark", exact=True).click()
    opened.wait_until(lambda: luminance(background(opened)) < 0.2)
    expect_true(lambda: luminance(faintest_cell(canvas)) < 0.3)
    opened.page.reload()
    opened.wait_until(lambda: luminance(background(opened)) < 0.2)
    opened.open_menu("menu.more")
    opened.page.get_by_role("radio", name="Match system", exact=True).click()
    opened.wait_until(lambda: luminance(background(opened)) > 0.8)
