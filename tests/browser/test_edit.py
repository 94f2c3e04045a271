"""Changing numbers by hand on the page Steps: what follows is computed anew, and undone again."""

import pytest
from playwright.sync_api import expect

import attnviz
from attnviz.attention.edits import parse
from attnviz.attention.steps import Steps
from attnviz.models.loaded_model import LoadedModel
from tests.browser.conftest import OpenVisit
from tests.browser.test_steps import HEAD, KEY, LAYER, QUERY, TEXT, N, canvas, panel
from tests.support.canvas import cell_middle
from tests.support.visit import Visit, expect_data
from tests.support.waiting import expect_equal, expect_number, number

COMPONENT = 5


def edited(minilm: LoadedModel, text: str) -> Steps:
    return attnviz.derive(attnviz.capture(minilm, TEXT).call(LAYER), HEAD, edits=parse(text))


def choose(visit: Visit, stage: str, row: int, col: int, n_cols: int) -> None:
    where = canvas(visit, stage)
    x, y = cell_middle(where, row, col, N, n_cols)
    where.click(position={"x": x, "y": y})


def type_value(visit: Visit, value: str) -> None:
    box = visit.page.locator("input.edit-value")
    expect(box).to_be_in_viewport(ratio=1)  # wherever the cell is, its number stands in sight
    box.fill(value)
    box.press("Enter")


def expect_weight(visit: Visit, wanted: float) -> None:
    """Waits until the sum of the chosen weight ends in this number."""
    expect_number(visit.page.locator("li[data-sum=weights] .result"), wanted, abs=1e-4)


def test_a_query_is_changed_and_everything_after_it(visit: OpenVisit, minilm: LoadedModel) -> None:
    opened = visit("steps", text=TEXT, layer=LAYER, head=HEAD, query=QUERY, key=KEY)
    top = opened.page.locator(".av.steps")
    choose(opened, "q", QUERY, COMPONENT, 32)
    said = top.locator("[role=status]").first
    expect(said).to_contain_text(f"d_head {COMPONENT} = ")
    type_value(opened, "2.5")
    expect_data(top, edits="1")
    expect(said).to_contain_text(f"d_head {COMPONENT} = 2.5")
    checked = opened.page.get_by_text("The same numbers as the model")
    expect(checked).to_contain_text("recorded pass, without edits")
    steps = edited(minilm, f"q.{QUERY}.{COMPONENT}=2.5")
    plain = edited(minilm, "")
    expect_weight(opened, float(steps.weights[QUERY, KEY]))
    opened.wait_for_parameters(edits=f"q.{QUERY}.{COMPONENT}=2.5")
    change = float((steps.weights - plain.weights).abs().max())
    badge = panel(opened, "weights").locator(".badge")
    expect_equal(lambda: number(badge.inner_text().split("=")[1]), pytest.approx(change, rel=5e-3))
    # the original stays at hand, and so does the difference
    opened.page.get_by_role("radio", name="original").click()
    expect_weight(opened, float(plain.weights[QUERY, KEY]))
    opened.page.get_by_role("radio", name="difference").click()
    choose(opened, "weights", QUERY, KEY, N)
    wanted = float(steps.weights[QUERY, KEY] - plain.weights[QUERY, KEY])
    expect_number(panel(opened, "weights").locator(".readout b"), wanted, abs=6e-5)
    opened.page.get_by_role("button", name="Undo all edits").click()
    expect_data(top, edits="0")
    opened.wait_for_parameters(edits=None)
    expect_weight(opened, float(plain.weights[QUERY, KEY]))


@pytest.mark.slow
def test_an_address_with_edits_is_restored_and_a_cell_is_blocked(
    visit: OpenVisit, minilm: LoadedModel
) -> None:
    text = f"masked.{QUERY}.0=-inf,q.1.2=3"
    opened = visit("steps", text=TEXT, layer=LAYER, head=HEAD, query=QUERY, key=KEY, edits=text)
    top = opened.page.locator(".av.steps")
    expect_data(top, edits="2")
    steps = edited(minilm, text)
    expect_weight(opened, float(steps.weights[QUERY, KEY]))
    # the blocked cell is opened again: one edit more, on the same entry
    choose(opened, "masked", QUERY, 0, N)
    expect(opened.page.get_by_role("button", name="Unblock this cell")).to_be_in_viewport(ratio=1)
    opened.page.get_by_role("button", name="Unblock this cell").click()
    expect(opened.page.get_by_role("button", name="Block this cell")).to_be_visible()
    choose(opened, "weights", QUERY, KEY, N)
    plain = edited(minilm, "")
    expect_weight(opened, float(plain.weights[QUERY, KEY]))
    # another head has nothing edited
    opened.page.locator("select[data-pick=head]").select_option("3")
    expect_data(top, head="3", edits="0")


@pytest.mark.slow
def test_a_whole_row_of_the_mask_is_blocked_and_opened(
    visit: OpenVisit, minilm: LoadedModel
) -> None:
    opened = visit("steps", text=TEXT, layer=LAYER, head=HEAD, query=QUERY, key=KEY)
    top = opened.page.locator(".av.steps")
    choose(opened, "masked", QUERY, KEY, N)
    opened.page.get_by_role("button", name="Block the whole row", exact=True).click()
    expect_data(top, edits="1")
    opened.wait_for_parameters(edits=f"masked.{QUERY}.*=-inf")
    assert float(edited(minilm, f"masked.{QUERY}.*=-inf").weights[QUERY].abs().sum()) == 0
    expect_weight(opened, 0)
    expect(opened.page.locator("[data-effect]")).to_have_count(0)  # nothing is written from zeros
    expect(panel(opened, "weights")).not_to_contain_text("each row sums to 1")
    opened.page.get_by_role("button", name="Unblock the whole row").click()
    opened.wait_for_parameters(edits=f"masked.{QUERY}.*=inf")
    expect(opened.page.locator(".edit-chips li")).to_contain_text("open")
    wanted = float(edited(minilm, "").weights[QUERY, KEY])
    expect_weight(opened, wanted)


@pytest.mark.slow
def test_nonsense_in_the_address_is_left_out(visit: OpenVisit) -> None:
    opened = visit("steps", text=TEXT, layer=LAYER, head=HEAD, edits="q.1=<b>")
    expect_data(opened.page.locator(".av.steps"), edits="0")
    expect(opened.page.get_by_text("edits", exact=False).first).to_be_visible()


def test_what_an_edit_does_stands_beside_its_field(visit: OpenVisit) -> None:
    """The sentence above the row is out of sight where numbers are edited."""
    text = "When Mary and John went to the store, John gave a book to"
    place = {"model": "stories", "text": text, "layer": 2, "head": 1, "query": 14, "key": 2}
    page = visit("steps", **place, edits="masked.14.2=-inf").page
    answer = page.locator(".edit-answer")
    expect(answer).to_contain_text("the answer is no longer Mary (99.3% → 4.9%) but John (55.")
    page.locator(".rows-head").scroll_into_view_if_needed()
    page.mouse.wheel(0, 600)
    expect(answer).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Undo all edits").click()
    expect(answer).to_be_hidden()
