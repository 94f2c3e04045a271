"""The gallery of the start page: there at once, still on request, a way in."""

import re

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from attnviz.app.session import widgets
from attnviz.pictures import gallery
from tests.browser.conftest import OpenVisit
from tests.support.browser import accessibility_problems
from tests.support.visit import Visit, expect_data
from tests.support.waiting import expect_true


def card(visit: Visit, name: str) -> Locator:
    return visit.page.locator(f".gallery-card[data-name={name}]")


def test_miniatures_are_there_with_the_page_and_open_theirs(visit: OpenVisit) -> None:
    opened = visit("")
    for name in ("translator", "picture", "story", "birth"):
        expect(card(opened, name).locator("canvas[data-drawn]")).to_have_count(1)
    translator = card(opened, "translator")
    expect(translator).to_have_accessible_name(
        re.compile(r"^Translate\. .*L1\.H2 gives its strongest pair 1\.00")
    )
    translator.click()
    opened.page.get_by_role("heading", name="Change", exact=True).wait_for()
    opened.wait_for_parameters(model="translator")
    # what the miniature has shown stands in sight, though the switches come first
    whole = opened.page.locator(f".{widgets.class_name('whole')}")
    expect(whole.locator("canvas[data-drawn]").first).to_be_in_viewport()


@pytest.mark.slow
def test_a_miniature_plays_under_the_pointer_unless_less_motion_is_asked_for(
    visit: OpenVisit,
) -> None:
    opened = visit("")
    born = card(opened, "birth")
    born.hover()
    expect_data(born, running="1")
    opened.leave_picture()
    opened.page.emulate_media(reduced_motion="reduce")
    story = card(opened, "story")
    story.hover()
    expect_data(story, running=None)
    assert accessibility_problems(opened.page) == []


# how many colours the upper right of the heatmap has, where a letter would look at later ones
COLOURS = """(canvas) => {
    const ratio = canvas.width / canvas.clientWidth;
    const side = Math.min(168, canvas.clientWidth / 2) * ratio;
    const part = [0.7 * side, 0.1 * side, 0.2 * side, 0.2 * side].map(Math.round);
    const { data } = canvas.getContext("2d").getImageData(...part);
    return new Set(new Uint32Array(data.buffer)).size;
}"""


def test_what_no_letter_may_look_at_is_hatched(visit: OpenVisit) -> None:
    canvas = card(visit(""), "birth").locator("canvas[data-drawn]")
    expect_true(lambda: canvas.evaluate(COLOURS) > 1)
    size = len(gallery.gallery().birth.letters)
    later = np.triu(np.ones((size, size), bool), 1)
    assert (gallery.gallery().birth.weights[:, later] == 0).all()
