"""Moving pictures on cards: they start when they come into sight, stop, and become stills."""

from playwright.sync_api import expect

from attnviz.pictures.motion.scenes import SCENES
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


def test_visitors_who_want_less_motion_get_a_still_for_each_scene(visit: OpenVisit) -> None:
    opened = visit(ADDRESS)
    opened.page.emulate_media(reduced_motion="reduce")
    opened.page.reload()
    top = opened.page.locator(".av.motion")
    expect_data(top, scene="stills", running=None)
    expect(top.locator(".motion-stills canvas[data-drawn]")).to_have_count(len(SCENES["blend"]))
    expect(top.locator(".av-film-bar")).to_be_hidden()
