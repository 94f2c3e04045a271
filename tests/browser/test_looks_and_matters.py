"""Overview and Head say of a head how it looks and how far the answer moves without it."""

import re

import numpy as np
from playwright.sync_api import expect

import attnviz
from tests.browser.conftest import OpenVisit
from tests.support.visit import expect_data
from tests.support.waiting import eventually

STORE = "When Mary and John went to the store, John gave a book to"


def test_looking_and_mattering_stand_on_overview_and_head(visit: OpenVisit) -> None:
    """Where they agree, Stories L2.H1, and where they do not, L2.H3; with bars under each head."""
    run = attnviz.experiment(attnviz.load("stories"), STORE)
    most = float(np.abs(run.effects().changes).max())
    opened = visit("overview", model="stories", text=STORE, layer=2, head=1, query=14, key=2)
    facts, board = opened.page.locator(".av-facts"), opened.canvas("All heads of")
    expect(facts).to_contain_text("to looks at Mary 0.98; the head's other rows: 0.08.")
    expect(facts).to_contain_text(
        re.compile(
            r"With the whole head replaced by its mean, the answer moves by 54\.[89] percentage"
        )
    )
    expect(facts).to_contain_text("the 15 others: 0.23 points at the median.")
    expect(facts).to_contain_text("It looks; the whole head matters.")
    expect_data(board, key=2)

    def the_longest_bar_is_measured() -> None:
        assert abs(float(board.get_attribute("data-effects") or 0) - most) < 1e-5

    eventually(the_longest_bar_is_measured)
    legend = opened.page.locator(".av-legend")
    expect(legend).to_contain_text("looks: “to” at “Mary”")
    expect(legend).to_contain_text("full bar: 66.6 points, L0.H0")
    opened.page.locator(".av-picker-cell[data-layer='2'][data-head='3']").hover()
    expect(facts).to_contain_text("to looks at Mary 0.77")
    expect(facts).to_contain_text("It looks; the whole head hardly matters.")
    opened.page.locator(".av-picker-cell[data-layer='2'][data-head='1']").click()
    expect(opened.page.locator(".av-head .av-facts")).to_contain_text(
        "It looks; the whole head matters."
    )
    opened.page.get_by_role("button", name="Next head").click()
    expect(opened.page.locator(".av-head .av-facts")).to_contain_text("to looks at Mary")


def test_a_look_that_the_mask_hides_is_said_to_be_hidden_on_overview_and_head(
    visit: OpenVisit,
) -> None:
    hidden = "cannot look at a: the mask hides it."
    cell = {"layer": 2, "head": 1, "query": 10, "key": 12}
    for page in ("overview", "head"):
        facts = visit(page, model="stories", text=STORE, **cell).page.locator(".av-facts").last
        expect(facts).to_contain_text(hidden)
        facts = visit(page, model="stories", text=STORE, **cell | {"key": 2}).page
        expect(facts.locator(".av-facts").last).to_contain_text("looks at Mary")
        expect(facts.locator(".av-facts").last).not_to_contain_text("cannot look")
