"""Below Head, Steps and Output in a browser: effects of a row, why here, edits, the lens."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenVisit
from tests.support.cases import mostly_slow
from tests.support.hostile import TEXT as HOSTILE
from tests.support.hostile import escaped

STORE = "When Mary and John went to the store, John gave a drink to"
CELL = {"layer": 2, "head": 1, "query": 14, "key": 2}


@pytest.mark.slow
def test_a_row_is_measured_when_it_is_asked_for(visit: OpenVisit) -> None:
    opened = visit("head", model="stories", text=STORE, **CELL)
    tables = opened.page.locator(".av-table table")
    expect(opened.page.locator(".av.head, .av-head").first).to_be_visible()
    expect(tables).to_have_count(0)
    opened.page.get_by_text("What does this row do?").click()
    expect(tables).to_have_count(1)
    expect(tables.locator("tbody th").first).to_contain_text("Mary")
    opened.page.get_by_text("What gives this cell its score?").click()
    expect(tables).to_have_count(2)
    expect(opened.page.get_by_text("Intervention: with queries from a run")).to_be_visible()


@pytest.mark.slow
def test_an_edit_is_followed_to_the_answer(visit: OpenVisit) -> None:
    opened = visit("steps", model="stories", text=STORE, edits="masked.14.*=-inf", **CELL)
    expect(opened.page.get_by_text("With this edit, the model's answer")).to_be_visible()


@pytest.mark.parametrize("text", mostly_slow([STORE, HOSTILE], [HOSTILE]))
def test_the_lens_is_a_table_of_words_and_layers(visit: OpenVisit, text: str) -> None:
    opened = visit("output", model="stories", text=text)
    table = opened.page.locator(".av-table table")
    expect(table.locator("thead th")).to_have_count(9)
    expect(table.locator("tbody tr").last).to_be_visible()
    assert escaped(opened.page) == []
