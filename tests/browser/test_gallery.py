"""The gallery of the start page: drawn when it comes into sight, still on request, a way in."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenVisit
from tests.support.browser import accessibility_problems
from tests.support.visit import Visit, expect_data


def card(visit: Visit, name: str) -> Locator:
    return visit.page.locator(f".gallery-card[data-name={name}]")


def test_miniatures_come_when_they_are_looked_at_and_open_their_page(visit: OpenVisit) -> None:
    opened = visit("")
    translator = card(opened, "translator")
    translator.scroll_into_view_if_needed()
    for name in ("translator", "picture", "story"):
        expect_data(card(opened, name), there="1")
        expect(card(opened, name).locator("canvas[data-drawn]")).to_have_count(1)
    expect(translator.locator(".gallery-says")).to_contain_text("an even share is 0.11")
    translator.click()
    opened.page.get_by_role("heading", name="Output", exact=True).wait_for()
    opened.wait_for_parameters(model="translator")


@pytest.mark.slow
def test_a_circuit_is_born_in_sight(visit: OpenVisit) -> None:
    opened = visit("")
    opened.page.emulate_media(reduced_motion="reduce")
    born = card(opened, "birth")
    born.scroll_into_view_if_needed()
    expect(born.locator(".gallery-says")).to_contain_text("Step 200 of 200")
    expect_data(born, there="1", running=None)
    assert accessibility_problems(opened.page) == []
