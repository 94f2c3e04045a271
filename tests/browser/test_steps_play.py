"""Steps played stage by stage, and a text too long for whole matrices: part and small map."""

import numpy as np
from playwright.sync_api import expect

import attnviz
from attnviz.models.loaded import LoadedModel
from benchmarks.texts import text_of
from tests.browser.conftest import OpenVisit
from tests.browser.test_steps import HEAD, LAYER, TEXT, canvas, number, panel
from tests.support.canvas import Palette, cell_colours, cell_middle
from tests.support.visit import Visit, data, expect_data

STAGE_MS = 2200
N_LONG, ACROSS = 90, 24
# how many clocks of the strip are running
COUNT_CLOCKS = """(wait) => {
    const [start, stop] = [window.setTimeout, window.clearTimeout], running = new Set();
    window.setTimeout = (act, ms, ...more) => {
        const id = start(() => { running.delete(id); act(...more); }, ms);
        if (ms === wait) running.add(id);
        return id;
    };
    window.clearTimeout = (id) => { running.delete(id); stop(id); };
    window.avClocks = () => running.size;
}"""


def stage(visit: Visit) -> str:
    return data(visit.page.locator(".av.steps"))["playing"]


def test_play_walks_through_the_stages_and_its_clock_ends_with_the_page(visit: OpenVisit) -> None:
    opened = visit("steps", text=TEXT, layer=LAYER, head=HEAD)
    opened.page.evaluate(COUNT_CLOCKS, STAGE_MS)
    top = opened.page.locator(".av.steps")
    opened.page.get_by_role("button", name="Play", exact=True).click()
    expect_data(top, playing="x", clock="1")
    expect_data(top, playing="q")  # the clock went on
    expect(opened.page.locator(".panel.playing")).to_have_count(1)
    expect(opened.page.locator(".play-where")).to_contain_text("Queries Q: Q = X·WQ + bQ")
    canvas(opened, "q").focus()
    opened.page.keyboard.press("Space")
    expect_data(top, clock=None)
    assert opened.page.evaluate("avClocks()") == 0
    opened.page.keyboard.press("Space")
    expect_data(top, clock="1")
    assert opened.page.evaluate("avClocks()") == 1
    opened.page.get_by_role("link", name="Masks", exact=True).click()
    opened.page.locator(".av.masks canvas[data-drawn]").first.wait_for()
    assert opened.page.evaluate("avClocks()") == 0


def test_with_less_motion_each_press_is_one_stage(visit: OpenVisit) -> None:
    opened = visit("steps", text=TEXT, layer=LAYER, head=HEAD, query=3, key=2)
    opened.page.emulate_media(reduced_motion="reduce")
    canvas(opened, "x").focus()
    walked = []
    for _ in opened.page.locator(".panel").all():
        opened.page.keyboard.press("Space")
        walked.append(stage(opened))
    assert walked == [*"xqkv", "scores", "scaled", "masked", "weights", "mixed", "concat",
                      "projected"]  # fmt: skip
    expect_data(opened.page.locator(".av.steps"), clock=None)
    expect(opened.page.locator("li.playing[data-sum=projected]")).to_be_visible()
    for part in (".play-where", ".play-stop", ".panel.playing"):  # the page has scrolled
        expect(opened.page.locator(part).first).to_be_in_viewport()
    opened.page.get_by_role("button", name="Stop", exact=True).click()
    expect(opened.page.locator(".playing")).to_have_count(0)


def test_a_long_text_shows_the_neighbourhood_of_the_cell_and_the_whole_as_a_map(
    visit: OpenVisit, minilm: LoadedModel, palettes: dict[str, Palette]
) -> None:
    text, query, key = text_of(minilm, N_LONG), 70, 50
    weights = attnviz.capture(minilm, text).weights(LAYER, HEAD)
    opened = visit("steps", text=text, layer=LAYER, head=HEAD, query=query, key=key)
    shown = canvas(opened, "weights")
    check_part(opened, weights, palettes["light"], query, key)
    # the keyboard goes on where the part ends, and the part follows
    shown.focus()
    for _ in range(ACROSS):
        opened.page.keyboard.press("ArrowUp")
    expect_data(shown, query=query - ACROSS)
    check_part(opened, weights, palettes["light"], query - ACROSS, key)
    # a click on the map chooses the cell there, a click in the part the cell under it
    small = panel(opened, "weights").locator("canvas.mini").first
    x, y = place_on_map(80, 10)
    small.click(position={"x": x, "y": y})
    opened.wait_until(lambda: data(shown)["cell"] != f"{query - ACROSS},{key}")
    row, col = map(int, data(shown)["cell"].split(","))  # a cell is thinner than a pixel there
    assert abs(row - 80) <= 1 and abs(col - 10) <= 1
    check_part(opened, weights, palettes["light"], row, col)
    top, left = map(int, data(shown)["from"].split(","))
    x, y = cell_middle(shown, 5, 6, ACROSS, ACROSS)
    shown.click(position={"x": x, "y": y})
    expect_data(shown, query=top + 5, key=left + 6)
    said = panel(opened, "weights").locator(".readout b").inner_text()
    assert abs(number(said) - float(weights[top + 5, left + 6])) <= 6e-5


def place_on_map(row: int, col: int) -> tuple[float, float]:
    unit = 64 / N_LONG
    return 1 + (col + 0.5) * unit, 1 + (row + 0.5) * unit


def check_part(opened: Visit, weights: np.ndarray, palette: Palette, query: int, key: int) -> None:
    """The part on show holds the cell, and its colours are those of the library's weights."""
    shown = canvas(opened, "weights")
    expect_data(shown, rows_count=ACROSS, cols_count=ACROSS, cell=f"{query},{key}")
    top, left = map(int, data(shown)["from"].split(","))
    assert top <= query < top + ACROSS and left <= key < left + ACROSS
    cells = [(row, col) for row in range(1, ACROSS, 4) for col in range(1, ACROSS, 5)]
    for (row, col), colour in zip(cells, cell_colours(shown, cells, ACROSS, ACROSS), strict=True):
        assert colour in palette.of_weight(float(weights[top + row, left + col])), (row, col)
