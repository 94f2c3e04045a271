"""A row of a head as a film, and a text too long for whole matrices: part and small map."""

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import attnviz
from attnviz.models.loaded_model import LoadedModel
from benchmarks.texts import text_of
from tests.browser.conftest import OpenVisit
from tests.browser.test_first_screen import PROJECTOR
from tests.browser.test_steps import HEAD, LAYER, TEXT, canvas, panel
from tests.support.canvas import Palette, cell_colours, cell_middle
from tests.support.visit import Visit, data, expect_data
from tests.support.waiting import at_rest, eventually, expect_number, expect_true

N_LONG, ACROSS = 90, 24
SCENES = ["q", "scores", "scaled", "masked", "weights", "mixed", "projected"]
LENGTH_S = 27
SENTENCE = "When Mary and John went to the store, John gave a book to"


def top_of(visit: Visit) -> Locator:
    return visit.page.locator(".av.steps")


def drawn(visit: Visit) -> int:
    return int(data(visit.page.locator(".play-film"))["drawn"])


def test_play_shows_a_row_as_a_film_that_pauses_scrubs_and_ends_with_the_page(
    visit: OpenVisit,
) -> None:
    opened = visit("steps", screen=PROJECTOR, text=TEXT, layer=LAYER, head=HEAD, query=3)
    top, page = top_of(opened), opened.page
    page.locator(".play-bar").get_by_role("button", name="Play", exact=True).click()
    expect_data(top, clock="1")
    expect(page.locator(".play-film")).to_be_in_viewport(ratio=0.95)
    expect(page.get_by_role("slider", name="Position in the film")).to_be_in_viewport(ratio=0.95)
    before = drawn(opened)
    opened.wait_until(lambda: drawn(opened) > before + 3)
    canvas(opened, "q").focus()
    page.keyboard.press("Space")
    expect_data(top, clock=None)
    scrubber = page.get_by_role("slider", name="Position in the film")
    scrubber.fill("0")
    expect(page.locator(".play-where")).to_contain_text("One row of Q, that of")
    expect(page.locator(".play-formula")).to_have_text("Q = X·WQ + bQ")
    scenes = []
    for second in range(LENGTH_S):
        scrubber.fill(str(1000 * second))
        scenes.append(data(top)["playing"])
        expect(page.locator(".panel.playing")).to_have_count(1)
    assert list(dict.fromkeys(scenes)) == SCENES
    still = at_rest(lambda: drawn(opened))
    page.get_by_label("Speed", exact=True).select_option("2×")
    assert at_rest(lambda: drawn(opened)) == still  # nothing runs beside the scrubber
    opened.go("masks")
    page.locator(".av.masks canvas[data-drawn]").first.wait_for()


@pytest.mark.slow
def test_on_a_phone_the_controls_of_the_film_stand_above_the_rail(visit: OpenVisit) -> None:
    opened = visit("steps", text=SENTENCE, layer=LAYER, head=HEAD, query=3)
    page = opened.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".play-bar").get_by_role("button", name="Play", exact=True).click()
    controls, rail = page.locator(".play-room .av-film-bar"), page.locator(".rail-dock")
    expect(page.locator(".play-film")).to_be_in_viewport()

    def is_free() -> bool:
        bar, below = controls.bounding_box(), rail.bounding_box()
        return bool(bar and below and 0 < bar["y"] <= below["y"] - bar["height"])

    expect_true(is_free)


@pytest.mark.slow
def test_the_film_says_the_numbers_of_the_library(visit: OpenVisit, minilm: LoadedModel) -> None:
    weights = attnviz.capture(minilm, TEXT).weights(LAYER, HEAD)
    query, key = 3, int(weights[3].argmax())
    opened = visit("steps", text=TEXT, layer=LAYER, head=HEAD, query=query)
    opened.page.emulate_media(reduced_motion="reduce")
    canvas(opened, "x").focus()
    for _ in range(SCENES.index("weights") + 1):
        opened.page.keyboard.press("Space")
    expect_data(top_of(opened), playing="weights", clock=None)
    labels = attnviz.capture(minilm, TEXT).tokens.labels
    sentence = opened.page.locator(".play-where")
    expect(sentence).to_contain_text(f"{labels[key]} gets {weights[query, key]:.2f}.")
    # the film follows another row, and stays at its moment
    canvas(opened, "weights").focus()
    opened.page.keyboard.press("ArrowDown")
    most = int(weights[query + 1].argmax())
    expect(sentence).to_contain_text(f"{labels[most]} gets {weights[query + 1, most]:.2f}.")


@pytest.mark.slow
def test_with_less_motion_each_press_is_one_still(visit: OpenVisit) -> None:
    opened = visit("steps", text=TEXT, layer=LAYER, head=HEAD, query=3, key=2)
    opened.page.emulate_media(reduced_motion="reduce")
    canvas(opened, "x").focus()
    walked = []
    for _ in SCENES:
        opened.page.keyboard.press("Space")
        walked.append(data(top_of(opened))["playing"])
    assert walked == SCENES
    expect_data(top_of(opened), clock=None)
    expect(opened.page.locator("li.playing[data-sum=projected]")).to_be_visible()
    opened.page.get_by_role("button", name="Stop", exact=True).click()
    expect(opened.page.locator(".playing")).to_have_count(0)
    expect(opened.page.locator(".play-film")).to_be_hidden()


@pytest.mark.slow
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

    def chosen() -> tuple[int, int]:
        row, col = map(int, data(shown)["cell"].split(","))
        return row, col

    # a cell is thinner than a pixel there
    expect_true(lambda: abs(chosen()[0] - 80) <= 1 and abs(chosen()[1] - 10) <= 1)
    row, col = chosen()
    check_part(opened, weights, palettes["light"], row, col)
    top, left = map(int, data(shown)["from"].split(","))
    x, y = cell_middle(shown, 5, 6, ACROSS, ACROSS)
    shown.click(position={"x": x, "y": y})
    expect_data(shown, query=top + 5, key=left + 6)
    said = panel(opened, "weights").locator(".readout b")
    expect_number(said, float(weights[top + 5, left + 6]), abs=6e-5)


def place_on_map(row: int, col: int) -> tuple[float, float]:
    unit = 64 / N_LONG
    return 1 + (col + 0.5) * unit, 1 + (row + 0.5) * unit


def check_part(opened: Visit, weights: np.ndarray, palette: Palette, query: int, key: int) -> None:
    """Waits until the part on show holds the cell and has the colours of the library's weights."""
    shown = canvas(opened, "weights")
    expect_data(shown, rows_count=ACROSS, cols_count=ACROSS, cell=f"{query},{key}")
    eventually(lambda: check_colours(shown, weights, palette, query, key))


def check_colours(
    shown: Locator, weights: np.ndarray, palette: Palette, query: int, key: int
) -> None:
    top, left = map(int, data(shown)["from"].split(","))
    assert top <= query < top + ACROSS and left <= key < left + ACROSS
    cells = [(row, col) for row in range(1, ACROSS, 4) for col in range(1, ACROSS, 5)]
    for (row, col), colour in zip(cells, cell_colours(shown, cells, ACROSS, ACROSS), strict=True):
        assert colour in palette.of_weight(float(weights[top + row, left + col])), (row, col)
