"""The film of the start page: it starts, stops, is set to a moment, and becomes stills."""

import json
import re

import pytest
from playwright.sync_api import Locator, expect

from attnviz.i18n import text
from tests.browser.conftest import OpenVisit
from tests.support.browser import accessibility_problems
from tests.support.visit import Visit, data, expect_data
from tests.support.waiting import at_rest, expect_equal

LENGTH_S = 32
SCENES = ("sentence", "asks", "heads", "head", "arcs", "change", "yours")


def film(visit: Visit) -> Locator:
    return visit.page.locator(".av.film")


def play(visit: Visit) -> None:
    visit.page.get_by_role("button", name="Film", exact=True).click()


def drawn(visit: Visit) -> int:
    return int(data(film(visit).locator("canvas").first)["drawn"])


def test_the_film_starts_when_it_comes_stops_and_is_set_to_any_moment(visit: OpenVisit) -> None:
    opened = visit("")
    play(opened)
    top, page = film(opened), opened.page
    expect_data(top, running="1")
    expect(top.locator(".av-film-clock")).to_contain_text(f"/ 0:{LENGTH_S}")
    before = drawn(opened)
    opened.wait_until(lambda: drawn(opened) > before + 3)
    page.get_by_role("button", name="Pause", exact=True).click()
    expect_data(top, running=None)
    still = at_rest(lambda: drawn(opened))
    scrubber = page.get_by_role("slider", name="Position in the film")
    scenes = []
    for second in range(0, LENGTH_S + 1):
        scrubber.fill(str(second * 1000))
        scenes.append(data(top)["scene"])
    assert tuple(dict.fromkeys(scenes)) == SCENES
    # nothing runs beside the scrubber
    assert at_rest(lambda: drawn(opened)) == still + LENGTH_S + 1
    # what is said of the head carries its control, and the word that asks
    scrubber.fill("18000")
    caption = top.locator(".film-caption").first
    expect(caption).to_contain_text("Its row of it gives animal a weight of 0.68.")
    expect(caption).to_contain_text("Its other rows give animal only 0.11 on average")
    scrubber.fill("29000")
    expect(caption).to_contain_text(
        "animal falls from 0.68 to 0.28, street rises from 0.05 to 0.12"
    )
    expect(caption).to_contain_text("Most of the rest moves to [CLS]")
    scrubber.fill(str(1000 * LENGTH_S - 700))  # almost at its end
    page.get_by_role("button", name="Play", exact=True).click()
    expect_data(top, running="1", scene="yours")
    expect_data(top, running=None)  # it has come to its end
    expect(page.get_by_role("button", name="Play again", exact=True)).to_be_visible()


@pytest.mark.slow
def test_a_film_is_skipped_and_a_sentence_opens_on_overview(visit: OpenVisit) -> None:
    opened = visit("")
    play(opened)
    opened.page.get_by_role("button", name="Skip to your sentence").click()
    expect_data(film(opened), running=None, scene="yours")
    box = opened.page.get_by_role("textbox", name="Now your sentence")
    expect(box).to_be_focused()
    box.fill("The cat sat on the mat.")
    box.press("Enter")
    opened.page.get_by_role("heading", name="Overview", exact=True).wait_for()
    opened.wait_for_parameters(text="The cat sat on the mat.", layer=0, head=2, query=3, key=2)
    # the bare address is the start page, which leads back here
    opened.page.locator(".av canvas[data-drawn]").first.wait_for()
    left = "localStorage.getItem('attnviz.left') ?? '{}'"
    expect_equal(lambda: json.loads(opened.page.evaluate(left))["page"], "overview")
    opened.page.goto(opened.url)
    expect_data(opened.page.locator(".av.stage"), scene="book")
    opened.page.get_by_role("button", name=text("en", "component.resume.label")).click()
    opened.wait_for_parameters(text="The cat sat on the mat.", layer=0, head=2, query=3, key=2)
    opened.page.get_by_role("heading", name="Overview", exact=True).wait_for()


@pytest.mark.slow
def test_with_less_motion_the_film_is_five_stills(visit: OpenVisit) -> None:
    opened = visit("")
    opened.page.emulate_media(reduced_motion="reduce")
    opened.page.reload()
    play(opened)
    expect_data(film(opened), scene="stills", running=None)
    stills = film(opened).locator(".film-stills canvas[data-drawn]")
    expect(stills).to_have_count(5)
    assert accessibility_problems(opened.page) == []
    expect(film(opened).locator(".av-film-bar")).to_be_hidden()
    said = "One of them stands out: L3.H1. Its row of it gives animal a weight"
    control = "Its other rows give animal only 0.11 on average"
    expect(stills.nth(2)).to_have_attribute("aria-label", re.compile(f"^{said}.*{control}"))
    for still in stills.all():
        expect_data(still, drawn=1)
