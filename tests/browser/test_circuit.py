"""The page Circuit in a browser: arrows, threshold, sides, the keyboard, the cut of a path."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenVisit
from tests.support.hostile import TEXT as HOSTILE
from tests.support.hostile import escaped

REPEATED = "Tom garden ball river Anna bread Tom garden ball river Anna bread"


def test_a_click_on_an_arrow_cuts_that_path(visit: OpenVisit) -> None:
    opened = visit("circuit", model="stories", text=REPEATED)
    page = opened.page
    edges, rows = page.locator(".av-path"), page.locator(".av-circuit-list button")
    expect(edges).to_have_count(8)
    expect(rows.first).to_contain_text("L0.H1 → L2.H1")
    track, bar, mark = (
        rows.first.locator(f".av-circuit-{name}").bounding_box()
        for name in ("track", "bar", "mark")
    )
    assert track and bar and mark
    assert 0.36 < bar["width"] / track["width"] < 0.40  # 38 % of a track that is 100 %
    assert 0.15 < (mark["x"] - track["x"]) / track["width"] < 0.25
    expect(page.locator(".av-circuit-widths")).to_have_text("line width: what moves, 26% to 38%")
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator(".av-circuit-title")).to_have_text("L0.H1 → L2.H1, keys")
    opened.wait_for_parameters(arrow="L0.H1-L2.H1.k")
    expect(page.locator(".av-circuit-detail")).to_contain_text(
        "Control, other heads: the same path from 7"
    )
    page.get_by_role("button", name="All paths").click()
    expect(page.locator(".av-circuit-title")).to_have_count(0)
    page.get_by_label("k: keys").uncheck()
    expect(page.locator(".av-circuit-list .av-path-k")).to_have_count(0)
    opened.wait_for_parameters(arrow=None, sides="q")
    slider = page.locator(".av-circuit-slider")
    slider.focus()
    page.keyboard.press("End")
    expect(edges).to_have_count(1)


def test_where_the_paths_stand_alone_a_head_shows_its_own(visit: OpenVisit) -> None:
    opened = visit("circuit", model="stories", text=REPEATED, embed="true")
    page = opened.page
    expect(page.locator(".av-switches")).to_have_count(0)
    head = page.locator(".av-circuit-node[data-head='L0.H0']")
    head.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    opened.wait_for_parameters(arrow="L0.H1")
    expect(head).to_have_attribute("aria-pressed", "false")


@pytest.mark.slow
def test_a_cell_of_a_cut_path_opens_its_head(visit: OpenVisit) -> None:
    opened = visit("circuit", model="stories", text=REPEATED, arrow="L0.H1-L2.H1.k")
    opened.page.locator(".av-circuit-cell").first.click()
    expect(opened.page.get_by_role("heading", name="Overview", exact=True)).to_be_visible()
    opened.wait_for_parameters(layer="2", head="1", query="9", key="4")


@pytest.mark.slow
def test_hostile_text_stays_text_in_the_circuit(visit: OpenVisit) -> None:
    opened = visit("circuit", model="stories", text=HOSTILE, arrow="L0.H1-L2.H1.v")
    expect(opened.page.locator(".av-circuit-cell").first).to_be_visible()
    assert escaped(opened.page) == []
