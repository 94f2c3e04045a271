"""Compare in the browser: colours of the difference, one cursor in three pictures, the address."""

import re

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import attnviz
from attnviz import compare
from attnviz.models.loaded_model import LoadedModel
from tests.browser.conftest import OpenVisit
from tests.support.canvas import Palette, cell_colours, cell_middle
from tests.support.cases import mostly_slow
from tests.support.visit import Visit, data, expect_data
from tests.support.waiting import eventually, expect_equal, expect_true

A, B = "The cat sat on the mat.", "The dog sat quietly on the mat."
LAYER, HEAD = 3, 8
N = 10  # places on the common axes: nine tokens of A and one more of B
NEW = 4  # where "quietly" stands
CELL = (2, 6)


def plot(visit: Visit, side: str) -> Locator:
    return visit.page.locator(f".av-pair canvas[data-side={side}]")


@pytest.fixture(scope="module")
def difference(minilm: LoadedModel) -> np.ndarray:
    """What the library says."""
    a, b = attnviz.capture(minilm, A), attnviz.capture(minilm, B)
    axis = compare.pair(a.tokens, b.tokens, same_vocabulary=True).slots
    return compare.difference(a.weights(LAYER, HEAD), b.weights(LAYER, HEAD), axis, axis)


@pytest.mark.parametrize("scheme", mostly_slow(["dark", "light"], 1))
def test_the_difference_has_the_colours_of_the_librarys_numbers(
    visit: OpenVisit, palettes: dict[str, Palette], difference: np.ndarray, scheme: str
) -> None:
    opened = visit("compare", text=A, text_b=B, layer=LAYER, head=HEAD, scheme=scheme)
    canvas = plot(opened, "d")
    expect_data(canvas, layer=LAYER, head=HEAD, rows=N, cols=N)
    limit = float(np.nanmax(np.abs(difference)))
    expect_equal(lambda: float(data(canvas)["limit"]), pytest.approx(limit, abs=1e-5))
    cells = [(row, col) for row in range(N) for col in range(N) if NEW not in (row, col)]

    def check() -> None:
        shown = cell_colours(canvas, cells, N, N)
        wrong = [
            (cell, colour, float(difference[cell]))
            for cell, colour in zip(cells, shown, strict=True)
            if colour not in palettes[scheme].of_signed(float(difference[cell]), limit)
        ]
        assert not wrong, wrong[:5]
        assert len(set(shown)) > 20  # a blank canvas would match nothing but itself

    eventually(check)
    assert np.isnan(difference[NEW]).all()


@pytest.mark.slow
def test_one_cursor_in_all_three(visit: OpenVisit, difference: np.ndarray) -> None:
    opened = visit("compare", text=A, text_b=B, layer=LAYER, head=HEAD)
    before = len(opened.seen.sent)
    row, col = CELL  # in B, whose tokens after "quietly" stand one place later than in A
    x, y = cell_middle(plot(opened, "b"), row, col, N, N)
    plot(opened, "b").hover(position={"x": x, "y": y})
    expect(plot(opened, "d")).to_have_attribute("data-over-row", str(row))
    expect(plot(opened, "d")).to_have_attribute("data-over-col", str(col))
    expect(plot(opened, "a")).to_have_attribute("data-over-col", str(col - 1))
    said = opened.page.locator(".av-pair .av-readout")
    value = f"{abs(float(difference[CELL])):.4f}"
    expect(said).to_contain_text(re.compile(rf"B − A [+−]?{value}"))
    plot(opened, "d").focus()
    opened.page.keyboard.press("]")
    expect_data(plot(opened, "b"), layer=LAYER, head=HEAD + 1)
    assert len(opened.seen.sent) == before  # nothing was asked of the server
    x, y = cell_middle(plot(opened, "d"), NEW, 0, N, N)
    plot(opened, "d").click(position={"x": x, "y": y})
    expect(said).to_contain_text("no counterpart in A")
    opened.page.get_by_role("group", name="Rows that differ most:").get_by_role(
        "button"
    ).first.click()
    expect(said).to_contain_text("of its attention lies elsewhere in B")


@pytest.mark.slow
def test_a_link_restores_both_sides(visit: OpenVisit) -> None:
    opened = visit("compare", text=A, text_b=B, layer=LAYER, head=HEAD)
    link = opened.page.get_by_role("checkbox", name="Both move together")
    expect(link).to_be_checked()
    link.uncheck()
    plot(opened, "b").focus()
    opened.page.keyboard.press("]")
    expect_data(plot(opened, "b"), head=HEAD + 1)
    expect_data(plot(opened, "a"), head=HEAD)
    for key in ["ArrowDown", "ArrowDown", "ArrowRight"]:
        opened.page.keyboard.press(key)
    wanted = {"layer": LAYER, "head": HEAD, "layer_b": LAYER, "head_b": HEAD + 1}
    opened.wait_for_parameters(**wanted, query=1, key=1, text_b=B)
    again = visit("compare", **opened.parameters())
    expect_data(plot(again, "a"), layer=LAYER, head=HEAD, row=1, col=1)
    expect_data(plot(again, "b"), layer=LAYER, head=HEAD + 1)
    expect(again.page.get_by_role("checkbox", name="Both move together")).not_to_be_checked()
    expect(again.page.get_by_role("textbox", name="B: text")).to_have_value(B)


@pytest.mark.slow
def test_a_cell_that_only_b_has_is_kept_in_the_address(visit: OpenVisit) -> None:
    opened = visit("compare", text=A, text_b=B, layer=LAYER, head=HEAD)
    x, y = cell_middle(plot(opened, "b"), NEW, 6, N, N)
    plot(opened, "b").click(position={"x": x, "y": y})
    opened.wait_for_parameters(query=None, key=None, query_b=NEW, key_b=6)
    again = visit("compare", **opened.parameters())
    expect_data(plot(again, "b"), row=NEW, col=6)
    expect(again.page.locator(".av-pair .av-readout")).to_contain_text("no counterpart in A")
    opened.leave_picture()  # the server is told
    opened.page.get_by_role("button", name="Back to one sentence").click()
    opened.wait_for_parameters(second=None)
    opened.page.get_by_role("button", name="Second sentence").click()
    expect_data(plot(opened, "b"), row=NEW, col=6)
    # a token of both sides is named as it stands in A
    x, y = cell_middle(plot(opened, "b"), 2, 6, N, N)
    plot(opened, "b").click(position={"x": x, "y": y})
    opened.wait_for_parameters(query=2, key=5, query_b=None, key_b=None)


def test_a_second_sentence_turns_the_squares_into_b_minus_a(
    visit: OpenVisit, minilm: LoadedModel
) -> None:
    a, b = attnviz.capture(minilm, A), attnviz.capture(minilm, B)
    axis = compare.pair(a.tokens, b.tokens, same_vocabulary=True).slots
    before, after = a.all_weights(), b.all_weights()
    each = [compare.difference(before[at], after[at], axis, axis) for at in np.ndindex(6, 12)]
    moved = compare.moved_by_head(before, after, axis, axis)
    opened = visit("overview", text=A, text_b=B, layer=LAYER, head=HEAD)
    opened.page.get_by_role("button", name="Second sentence").click()
    opened.wait_for_parameters(second=1, text_b=B)
    expect(opened.page).to_have_url(re.compile(r"/look\?"))
    squares = opened.page.locator(".av-pair-grid canvas").first
    limit = float(np.nanmax(np.abs(each)))
    expect_equal(lambda: float(data(squares)["limit"]), pytest.approx(limit, abs=1e-4))
    mean = float(np.nanmax(np.nanmean(moved, axis=-1)))
    expect_equal(lambda: float(data(squares)["most"]), pytest.approx(mean, abs=1e-4))
    plot(opened, "d").focus()
    opened.page.keyboard.press("ArrowDown")  # a row: its share stands below each square
    row = float(np.nanmax(moved[:, :, 0]))
    expect_equal(lambda: float(data(squares)["most"]), pytest.approx(row, abs=1e-4))
    opened.page.get_by_role("button", name="Back to one sentence").click()
    expect(opened.canvas("All heads of")).to_be_visible()


def test_on_a_phone_b_minus_a_stands_right_below_the_squares_and_differing_words_in_sight(
    visit: OpenVisit,
) -> None:
    """placeDifference; the lines have letters, and Swap keeps the chosen row."""
    texts = {"text": "Mary saw John", "text_b": "Mary saw Tom"}
    opened = visit("compare", model="stories", layer=0, head=0, query=3, key=1, **texts)
    page = opened.page
    page.set_viewport_size({"width": 390, "height": 844})
    heading = page.get_by_role("heading", name="B − A", exact=True)
    controls = page.locator(".av-pair-controls")
    expect_true(lambda: top(page.locator(".av-pair-grid")) < top(heading) < top(controls))
    page.set_viewport_size({"width": 1440, "height": 900})
    expect_true(lambda: top(heading) > top(page.get_by_text("Both move together")))
    expect(
        page.locator(".st-key-attnviz-widget-strip").get_by_text("A", exact=True)
    ).to_be_visible()
    page.get_by_role("button", name="Swap A and B").click()
    opened.wait_for_parameters(text="Mary saw Tom", text_b="Mary saw John", query=3, key=1)


def top(node: Locator) -> float:
    box = node.bounding_box()
    assert box is not None
    return box["y"]


@pytest.mark.slow
def test_the_largest_difference_of_all_heads_is_named_and_shown(visit: OpenVisit) -> None:
    """largestText and chooseLargest; the ends of the scale say whose weight is larger."""
    texts = {
        "text": "When Mary and John went to the store, John gave a book to",
        "text_b": "When Mary and John went to the big old store, John gave a book to",
    }
    page = visit("compare", model="stories", layer=0, head=0, **texts).page
    said = page.locator(".av-pair-largest")
    expect(said).to_contain_text("L1.H2, store")
    expect(said).to_contain_text("−0.7360; in the median head the largest is 0.2570")
    page.get_by_role("button", name="Show this cell").click()
    expect(page.locator(".av-pair .av-readout")).to_contain_text("B − A −0.7360")
    expect(page.get_by_text("more in B +").last).to_be_visible()
    expect(page.get_by_text("Hatched: no counterpart")).to_be_visible()
    expect(
        page.get_by_text("read ⇢ next: a row, by its token and the one after it")
    ).to_be_visible()
    encoder = visit("compare", text=A, text_b=B).page  # whose rows have their tokens' names
    expect(encoder.locator(".av-pair-notes")).to_be_visible()
    expect(encoder.get_by_text("read ⇢ next")).to_have_count(0)
