"""The first picture begins on the first screen of a projector: 1024 × 768."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenVisit
from tests.support.cases import mostly_slow
from tests.support.waiting import expect_true

PROJECTOR = {"width": 1024, "height": 768}
SHOWN_PX = 50  # of the picture, at least
# the pages whose first picture stood lowest, and one of each other kind
PAGES = (
    "switches",
    "calculator",
    "masks",
    "steps",
    "compare",
    "overview",
    "head",
    "map",
)
# the first canvas that is a picture: colour scales and the small ones of a list are lower
TOP = """() => {
    const tops = [];
    const look = (root) => {
        for (const node of root.querySelectorAll("*")) {
            const { top, width, height } = node.getBoundingClientRect();
            if (node.matches("canvas[data-drawn]") && width * height > 900) tops.push(top);
            if (node.shadowRoot) look(node.shadowRoot);
        }
    };
    look(document.querySelector("[data-testid=stMain]"));
    return tops.length ? Math.min(...tops) : null;
}"""


@pytest.mark.parametrize("path", mostly_slow(PAGES, ("switches", "calculator")))
def test_the_first_picture_is_on_the_first_screen(visit: OpenVisit, path: str) -> None:
    opened = visit(path, lang="en")
    page, before = opened.page, opened.page.viewport_size
    assert before is not None
    try:
        page.set_viewport_size(PROJECTOR)  # type: ignore[arg-type]
        expect(page.locator("canvas[data-drawn]").first).to_be_attached()
        last = PROJECTOR["height"] - SHOWN_PX
        expect_true(lambda: 0 < page.evaluate(TOP) <= last)
    finally:
        page.set_viewport_size(before)
