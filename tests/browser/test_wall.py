"""Every card on the wall: one screen, letters of 28 pixels or more, and something drawn.

A page of the tests draws each card as the wall does, at the two usual sizes of a projector.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from attnviz.teach.course import SLUGS, lesson
from tests.browser.conftest import OpenVisit
from tests.support.server import app_command, free_port, serve

HERE = Path(__file__).parent
SIZES = ((1280, 720), (1920, 1080))
LEAST_PX = 28
SETTLED_MS = 400  # after a change of size: letters and pictures find theirs
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
    const read = all("h2, .cc-question, .cc-option, .cc-sentences p, .cc-bars li");
    const boxes = all(".cc-card, .cc-ask, .cc-sentences");
    return {
        px: Math.min(...read.filter(seen).map(px)),
        cut: boxes.filter(seen).filter(cut).map((node) => node.className),
        pictures: all(".cc-pictures :is(table, canvas, svg, pre), .cc-option-pictured").length,
    };
}"""


@pytest.fixture(scope="module")
def wall_server() -> Iterator[str]:
    """The address of the app that shows any card as the wall does."""
    port = free_port()
    app = str(HERE / "wall_app.py")
    command = [app if part == "app.py" else part for part in app_command(port)]
    with serve(port, command, env={"PYTHONPATH": str(HERE.parent.parent)}) as url:
        yield url


def measured(page: Page, size: tuple[int, int]) -> dict[str, Any]:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.wait_for_timeout(SETTLED_MS)
    found: dict[str, Any] = page.locator(".class-card").evaluate(MEASURE)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("slug", SLUGS)
def test_every_card_is_one_screen_that_is_read_from_the_last_row(
    visit: OpenVisit, wall_server: str, slug: str
) -> None:
    page, wrong = visit("", url=wall_server, canvases=False).page, {}
    for recipe in lesson(slug).recipes:
        page.goto(f"{wall_server}?card={slug}/{recipe.name}")
        expect(page.locator(".class-card h2")).to_be_visible()
        for size in SIZES:
            found = measured(page, size)
            if found["px"] < LEAST_PX - 0.1 or found["cut"] or not found["pictures"]:
                wrong[recipe.name, size] = found
    assert wrong == {}
