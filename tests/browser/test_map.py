"""The pages Map and Atlas in a browser: heads, tokens, search, and the way to other pages."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenVisit
from tests.support.hostile import TEXT as HOSTILE
from tests.support.hostile import escaped

STORE = "When Mary and John went to the store, John gave a book to"


@pytest.mark.slow
def test_a_token_of_the_map_opens_its_cell_on_steps(visit: OpenVisit) -> None:
    opened = visit("map", model="stories", text="The cat sat on the mat.", layer="1", head="2")
    page = opened.page
    maps, plane = page.locator(".av-map-all"), page.locator(".av-map-marks")
    expect(page.locator(".av-map-points[data-drawn]")).to_be_visible()
    expect(page.locator(".av-map-right .av-title")).to_contain_text("L1.H2")
    maps.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".av-map-right .av-title")).to_contain_text("L2.H1")
    opened.wait_for_parameters(layer="2", head="1")
    page.get_by_placeholder("Find a token").fill("cat")
    expect(page.locator(".av-map-words .av-status")).to_contain_text("points found")
    plane.focus()
    page.keyboard.press("ArrowRight")  # the first token of the visitor's text
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    chosen = page.locator(".av-map-token[aria-pressed=true]")
    expect(chosen).to_have_text("cat")
    opened.wait_for_parameters(query="2")
    page.get_by_role("button", name="Open in Compute").click()
    expect(page.get_by_role("heading", name="Compute", exact=True)).to_be_visible()
    opened.wait_for_parameters(layer="2", head="1", query="2")


@pytest.mark.slow
def test_a_query_of_the_map_says_its_weights_and_how_far_the_picture_has_their_order(
    visit: OpenVisit,
) -> None:
    page = visit("map", model="stories", text=STORE, layer="2", head="1", query="14").page
    # what the model says itself with output_attentions: 0.98289, 0.00660, 0.00582
    said = page.locator(".av-map-words .av-sentence")
    expect(said.first).to_contain_text("Mary 98%, John 0.66%, <|endoftext|> 0.58%")
    order = page.locator(".av-map-order")
    expect(order).to_contain_text("“Mary”, which has its largest weight, is")
    expect(order).not_to_contain_text("is number 1 of")
    expect(order).to_contain_text("of 13 queries of this text")  # it has 15 tokens
    expect(order).to_contain_text("2 queries are not counted, with fewer than 3 keys")
    expect(order).to_contain_text("drawn alike: <|endoftext|>, When.")  # these see 1 and 2 keys
    expect(page.locator(".av-map-beyond")).to_be_visible()
    page.get_by_role("button", name="Clear").click()
    expect(order).to_have_count(0)
    expect(page.locator(".av-map-beyond")).to_have_count(0)


@pytest.mark.slow
def test_hostile_text_stays_text_on_the_map(visit: OpenVisit) -> None:
    opened = visit("map", model="stories", text=HOSTILE, query="1")
    expect(opened.page.locator(".av-map-token").first).to_be_visible()
    assert escaped(opened.page) == []


def test_a_head_of_the_atlas_shows_what_it_does(visit: OpenVisit) -> None:
    opened = visit("atlas", model="stories", text="The cat sat on the mat.", layer="0", head="0")
    page = opened.page
    dots = page.locator(".av-atlas-dot")
    expect(dots).to_have_count(16)
    page.locator(".av-atlas-dot[data-name='L2.H1']").click()
    expect(page.locator(".av-atlas-detail .av-title")).to_have_text("L2.H1")
    opened.wait_for_parameters(layer="2", head="1")
    expect(page.locator(".av-atlas-text").first).to_be_visible()
    page.get_by_role("button", name="Open L2.H1").click()
    expect(page.get_by_role("heading", name="Overview", exact=True)).to_be_visible()
    expect(page.get_by_text("L2.H1 on this text, compared with")).to_be_visible()
