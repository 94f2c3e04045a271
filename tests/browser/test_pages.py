"""Every page opens; texts are taken, refused, cut; moving between pages keeps what was chosen."""

import re

import pytest
from playwright.sync_api import Locator, expect

import attnviz
from attnviz.models.loaded_model import LoadedModel
from tests.browser.conftest import OpenVisit
from tests.support.browser import settle
from tests.support.cases import mostly_slow
from tests.support.visit import PRESS_MS, Visit, expect_data

PAGES = {
    "overview": "Overview",
    "head": "Overview",
    "steps": "Compute",
    "masks": "Masks",
    "compare": "Compare",
}
TEXT = "When Mary and John went to the store, John gave a book to Mary."
LIMIT = 512


def heatmap(visit: Visit) -> Locator:
    return visit.canvas("Attention weights of")


@pytest.mark.parametrize("path", mostly_slow(PAGES, ("overview",)))
def test_page_opens_without_a_traceback(visit: OpenVisit, path: str) -> None:
    opened = visit(path)
    expect(opened.page.get_by_role("heading", name=PAGES[path], exact=True)).to_be_visible()
    expect(opened.page.get_by_test_id("stException")).to_have_count(0)
    expect(opened.page.get_by_test_id("stAlert")).to_have_count(0)
    expect(opened.page).to_have_title(f"{PAGES[path]} · attnviz")
    expect(opened.page.get_by_test_id("stMain")).to_contain_text("The same numbers as the model")
    expect(opened.page.locator("body")).not_to_contain_text("Traceback")
    assert opened.seen.sent  # the record runs
    loaded = opened.page.evaluate("performance.getEntriesByType('resource').map((e) => e.name)")
    assert loaded
    assert [url for url in loaded if not url.startswith((opened.url, "blob:", "data:"))] == []


@pytest.mark.slow
def test_typing_a_text_draws_a_new_grid(visit: OpenVisit, minilm: LoadedModel) -> None:
    opened = visit("overview", layer=0, head=0)
    tokens = attnviz.capture(minilm, TEXT).tokens
    expect(opened.tokens).not_to_have_text(list(tokens.labels))
    opened.type_text(TEXT)
    expect(opened.tokens).to_have_text(list(tokens.labels))
    grid = opened.canvas("All heads of")
    expect(grid).to_have_attribute("data-drawn", re.compile(r"\d+"))
    n = len(tokens)
    expect(opened.canvas(f"Attention weights of L0.H0: {n} queries by {n} keys")).to_be_visible()
    opened.wait_for_parameters(text=TEXT)


# what is said instead of a page is the same on all: one of them each time, all when all is run
@pytest.mark.slow
@pytest.mark.parametrize("path", mostly_slow(PAGES, ("overview",)))
def test_empty_text_is_explained_with_a_way_out(visit: OpenVisit, path: str) -> None:
    opened = visit(path, text="   ", canvases=False)
    expect(opened.page.get_by_text("There is no text yet.")).to_be_visible()
    expect(opened.page.locator("canvas")).to_have_count(0)
    opened.take_example("The cat sat on the mat.")
    settle(opened.page)
    expect(opened.page.get_by_text("There is no text yet.")).to_have_count(0)
    opened.wait_for_parameters(text="The cat sat on the mat.")


@pytest.mark.slow
def test_clearing_the_box_empties_the_page(visit: OpenVisit) -> None:
    opened = visit("overview")
    opened.type_text("")
    expect(opened.page.get_by_text("There is no text yet.")).to_be_visible()
    expect(opened.page.locator("canvas")).to_have_count(0)


@pytest.mark.slow
def test_a_text_too_long_is_refused_with_both_numbers_and_can_be_cut(
    visit: OpenVisit, minilm: LoadedModel
) -> None:
    text = "word " * 600
    opened = visit("overview", text=text, canvases=False)
    alert = opened.page.get_by_test_id("stAlert")
    expect(alert).to_contain_text(f"602 tokens, and this model reads at most {LIMIT}")
    expect(opened.page.locator("canvas")).to_have_count(0)
    opened.page.get_by_role("button", name=f"Cut to the first {LIMIT} tokens").click()
    settle(opened.page)
    expect(opened.tokens).to_have_count(LIMIT)
    expect(alert).to_contain_text(f"only its first {LIMIT} tokens")
    opened.wait_for_parameters(cut=1)
    assert len(attnviz.capture(minilm, text, cut=True).tokens) == LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES)
def test_an_unknown_model_is_answered_with_those_that_exist(visit: OpenVisit, path: str) -> None:
    opened = visit(path, model="no-such-model", canvases=False)
    alert = opened.page.get_by_test_id("stAlert")
    known = ", ".join(card.name for card in attnviz.models())
    expect(alert).to_contain_text("There is no model called “no-such-model”")
    expect(alert).to_contain_text(f"These exist: {known}")
    opened.page.get_by_role("button", name="Open MiniLM").click()
    settle(opened.page)
    expect(alert).to_have_count(0)


@pytest.mark.slow
def test_a_head_that_does_not_exist_is_answered_with_those_that_do(visit: OpenVisit) -> None:
    opened = visit("steps", layer=6, head=0, canvases=False)
    alert = opened.page.get_by_test_id("stAlert")
    expect(alert).to_contain_text("There is no layer 6: this model has layers 0 to 5.")
    opened.page.get_by_role("button", name="Open layer 0, head 0").click()
    settle(opened.page)
    expect(alert).to_have_count(0)


@pytest.mark.slow
def test_the_bar_keeps_the_head_that_was_chosen_in_a_component(visit: OpenVisit) -> None:
    opened = visit("overview", text=TEXT)
    cell = opened.page.locator(".av-picker-cell[data-layer='0'][data-head='0']")
    cell.focus()
    for key in ["ArrowDown"] * 4 + ["ArrowRight"] * 9:
        opened.page.keyboard.press(key)
    expect_data(heatmap(opened), layer=4, head=9)
    opened.go("steps")
    steps = opened.page.locator(".panel[data-stage=weights] canvas[role=img]")
    expect_data(steps, layer=4, head=9)
    opened.go("masks")
    expect_data(opened.page.locator(".map canvas[role=img]").first, layer=4, head=9)
    opened.go("overview")
    expect_data(heatmap(opened), layer=4, head=9)
    opened.wait_for_parameters(text=TEXT, layer=4, head=9)


def test_back_and_forward_restore_page_and_head(visit: OpenVisit) -> None:
    """Each page comes back with the head that it showed, not with the latest one."""
    opened = visit("overview", text=TEXT)
    opened.page.locator(".av-picker-cell[data-layer='2'][data-head='3']").click()
    grown = opened.page.locator(".av-head canvas[aria-label^='Attention weights of']")
    expect_data(grown, layer=2, head=3)
    opened.page.keyboard.press("]")
    expect_data(grown, layer=2, head=4)
    opened.page.get_by_role("button", name="Open step by step").click(delay=PRESS_MS)
    weights = opened.page.locator(".panel[data-stage=weights] canvas[role=img]")
    expect_data(weights, layer=2, head=4)
    opened.page.go_back()
    expect_data(grown, layer=2, head=4)
    opened.wait_for_parameters(text=TEXT, layer=2, head=4, open=1)
    opened.page.go_forward()
    expect_data(weights, layer=2, head=4)
    opened.page.go_back()
    expect_data(grown, layer=2, head=4)
    box = opened.page.get_by_role("textbox", name="Text", exact=True)
    expect(box).to_have_value(TEXT)


@pytest.mark.slow
def test_a_selection_made_on_a_page_is_what_back_returns_to(visit: OpenVisit) -> None:
    opened = visit("head", text=TEXT, layer=1, head=1)
    heatmap(opened).focus()
    opened.page.keyboard.press("]")
    expect_data(heatmap(opened), layer=1, head=2)
    opened.go("steps")
    weights = opened.page.locator(".panel[data-stage=weights] canvas[role=img]")
    expect_data(weights, layer=1, head=2)
    opened.page.go_back()
    expect_data(heatmap(opened), layer=1, head=2)
    opened.wait_for_parameters(text=TEXT, layer=1, head=2)
