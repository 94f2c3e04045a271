"""Every card on the wall: one screen, letters of 28 pixels or more, and something drawn.

A page of the tests draws each card as the wall does, at the two usual sizes of a projector, before
and after the reveal. The line with the counts of the class stands below it, and may come late.
"""

from collections.abc import Sequence
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from attnviz.teach.course import SLUGS, lesson
from tests.browser.conftest import OpenVisit

SIZES = ((1280, 720), (1920, 1080))
LEAST_PX = 28
SETTLED_MS = 400  # letters and pictures find their size
# letters of the card that are read from the last row, with the zoom around them; what is cut off;
# the number of pictures, its own and those of its options
MEASURE = """(top) => {
    const all = (selector) => [...top.querySelectorAll(selector)];
    const seen = (node) => node.getBoundingClientRect().width > 0;
    const style = (node) => getComputedStyle(node);
    const zoom = (node) => node instanceof Element ? +style(node).zoom * zoom(node.parentNode) : 1;
    const px = (node) => parseFloat(style(node).fontSize) * zoom(node);
    const cut = ({ scrollHeight, clientHeight, scrollWidth, clientWidth }) =>
        scrollHeight > clientHeight + 1 || scrollWidth > clientWidth + 1;
    const read = all("h2, .cc-question, .cc-option, .cc-sentences p, .cc-bars li, .cc-here");
    const boxes = all(".cc-card, .cc-ask, .cc-sentences");
    const { bottom } = top.querySelector(".cc-here").getBoundingClientRect();
    return {
        px: Math.min(...read.filter(seen).map(px)),
        cut: boxes.filter(seen).filter(cut).map((node) => node.className),
        below: bottom > innerHeight + 1,
        pictures: all(".cc-pictures :is(table, canvas, svg, pre), .cc-option-pictured").length,
    };
}"""
# the counts go, the card takes their place, and they come again
LATE = """async (top) => {
    const here = top.querySelector(".cc-here"), said = here.textContent;
    const frames = () => new Promise((end) => setTimeout(end, 100));
    here.textContent = "";
    await frames();
    here.textContent = said;
    await frames();
}"""


def problems(page: Page, size: tuple[int, int]) -> dict[str, Any]:
    """What is wrong with the wall at this size; empty where nothing is."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.locator(".class-card").evaluate(LATE)
    page.wait_for_timeout(SETTLED_MS)
    found: dict[str, Any] = page.locator(".class-card").evaluate(MEASURE)
    is_right = found["px"] >= LEAST_PX - 0.1 and found["pictures"]
    return {} if is_right and not found["cut"] and not found["below"] else found


def wrong_cards(visit: OpenVisit, url: str, slug: str, cards: Sequence[str]) -> dict[Any, Any]:
    """What is wrong with these cards of a lesson, before and after the reveal, at both sizes."""
    page = visit("", url=url, canvases=False, show="wall", card=f"{slug}/{cards[0]}").page
    wrong = {}
    for name in cards:
        for revealed in ("", "&revealed=1"):
            page.goto(f"{url}?show=wall&card={slug}/{name}{revealed}")
            expect(page.locator(".class-card h2")).to_be_visible()
            for size in SIZES:
                found = problems(page, size)
                if found:
                    wrong[name, revealed, size] = found
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize(("slug", "card"), [("masks", "both"), ("birth", "needs")])
def test_a_card_is_one_screen_that_is_read_from_the_last_row(
    visit: OpenVisit, component_server: str, slug: str, card: str
) -> None:
    assert wrong_cards(visit, component_server, slug, [card]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("slug", SLUGS)
def test_every_card_is_one_screen_that_is_read_from_the_last_row(
    visit: OpenVisit, component_server: str, slug: str
) -> None:
    cards = [recipe.name for recipe in lesson(slug).recipes]
    assert wrong_cards(visit, component_server, slug, cards) == {}
