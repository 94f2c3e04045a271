"""Moving pictures on cards: they start when they come into sight, stop, and become stills."""

import pytest
from playwright.sync_api import expect

from attnviz.pictures.motion import SCENES
from tests.browser.conftest import OpenVisit
from tests.support.browser import accessibility_problems
from tests.support.visit import data, expect_data

ADDRESS = "learn?lesson=block&card=mix&answers=mix%3D%3F"


def test_a_moving_picture_starts_in_sight_stops_and_is_set_to_any_scene(visit: OpenVisit) -> None:
    opened = visit(ADDRESS)
    top, page = opened.page.locator(".av.motion"), opened.page
    expect(top.locator("canvas")).to_be_visible()
    top.locator("canvas").scroll_into_view_if_needed()
    expect_data(top, running="1")
    page.get_by_role("button", name="Pause", exact=True).click()
    expect_data(top, running=None)
    scrubber, ms, scenes = page.get_by_role("slider", name="Position in the film"), 0, []
    for length in SCENES["blend"].values():
        scrubber.fill(str(ms + length // 2))
        scenes.append(data(top)["scene"])
        ms += length
    assert scenes == list(SCENES["blend"])
    expect(top.locator(".motion-caption").first).to_contain_text("add up to the output row")
    assert accessibility_problems(page) == []


@pytest.mark.slow
def test_visitors_who_want_less_motion_get_a_still_for_each_scene(visit: OpenVisit) -> None:
    opened = visit(ADDRESS)
    opened.page.emulate_media(reduced_motion="reduce")
    opened.page.reload()
    top = opened.page.locator(".av.motion")
    expect_data(top, scene="stills", running=None)
    expect(top.locator(".motion-stills canvas[data-drawn]")).to_have_count(len(SCENES["blend"]))
    expect(top.locator(".av-film-bar")).to_be_hidden()


@pytest.mark.slow
def test_a_hand_on_a_ring_stops_the_film_and_moves_the_slider(visit: OpenVisit) -> None:
    """Hand and slider set the same number: each follows the other, and playing on forgets both."""
    opened = visit("learn?lesson=ask&card=turn&answers=turn%3D%3F&values=angle%3D90.0")
    page, top = opened.page, opened.page.locator(".av.motion")
    ring = top.get_by_role("button", name="tip of the query")
    expect(top.locator("canvas")).to_be_visible()
    ring.focus()
    ring.press("Shift+ArrowRight")
    expect_data(top, running=None, handled="1")
    slider = page.get_by_role("slider", name="Direction of the query")
    before = int(slider.get_attribute("aria-valuenow") or "0")
    for _ in range(3):
        ring.press("Shift+ArrowRight")
    expect(slider).not_to_have_attribute("aria-valuenow", str(before))
    assert accessibility_problems(page) == []
    page.get_by_role("button", name="Play", exact=True).click()
    expect_data(top, running="1", handled=None)
