"""A page does not jump while it comes: its layout shift, as the browser counts it."""

import pytest
from playwright.sync_api import Browser, Route, expect

from attnviz.app.host import script
from benchmarks.first_paint import SHIFT, SIZES, visit
from tests.browser.conftest import OpenVisit
from tests.support.browser import settle
from tests.support.cases import mostly_slow
from tests.support.paint import paint, watch_paint
from tests.support.waiting import expect_true

DESK, PHONE = SIZES
QUICK = (("switches", PHONE),)
CASES = [(path, size) for path in ("", "overview", "head", "switches") for size in SIZES]
# a picture that takes its height a moment after the text below it was shown
JUMP = """<div id="picture"></div><p>below</p><script>
    const grow = () => { picture.style.height = "300px"; };
    setTimeout(() => requestAnimationFrame(grow), 100);
</script>"""


@pytest.mark.parametrize(("path", "size"), mostly_slow(CASES, QUICK))
def test_the_layout_shift_of_a_page_is_small(
    look: OpenVisit, browser: Browser, server: str, path: str, size: dict[str, int]
) -> None:
    look(path, screen=(size["width"], size["height"]))  # the server computes what the page shows
    seen, problems = visit(browser, server, path, size, rest_ms=0)
    assert problems == []
    assert seen.shift <= SHIFT, "\n".join(map(str, seen.shifts))


def test_watch_paint_sees_a_jump(browser: Browser) -> None:
    with browser.new_context(viewport=DESK) as context:
        page = context.new_page()
        watch_paint(page)
        page.route("**/*", lambda route: route.fulfill(body=JUMP, content_type="text/html"))
        page.goto("http://localhost/")
        expect_true(lambda: paint(page).shift > 0)
        assert "p" in paint(page).shifts[0].sources[0]


# the size of each block of text, in the components too, by its words
SIZES_OF_TEXTS = """() => {
    const blocks = "h1, h2, h3, p, button, label, summary, li, th, td, figcaption";
    const found = {};
    const collect = (root) => {
        for (const node of root.querySelectorAll("*")) {
            if (node.shadowRoot) collect(node.shadowRoot);
            if (!node.matches(blocks) || !node.checkVisibility()) continue;
            const { width, height } = node.getBoundingClientRect();
            const words = node.textContent.trim();
            if (words) (found[words] ??= []).push([width, height]);
        }
    };
    collect(document);
    return found;
}"""
COMES_MS = 500
LATE = [
    (path, lang) for path in ("masks", "overview", "switches", "learn") for lang in ("en", "ja")
]


@pytest.mark.slow
@pytest.mark.parametrize(("path", "lang"), mostly_slow(LATE, [("switches", "ja")]))
def test_no_line_moves_when_the_font_comes_late(
    browser: Browser, server: str, path: str, lang: str
) -> None:
    with browser.new_context(viewport=DESK, locale=lang) as context:
        page, held = context.new_page(), list[Route]()
        page.route(f"**/{script.font_name()}", lambda route: held.append(route))
        page.goto(f"{server}/{path}", wait_until="commit")
        expect(page.locator("html[data-font]")).to_have_attribute("data-font", "system")
        settle(page, canvases=path != "learn")
        before = page.evaluate(SIZES_OF_TEXTS)
        for route in held:
            route.continue_()
        page.wait_for_timeout(COMES_MS)
        after = page.evaluate(SIZES_OF_TEXTS)
        same = before.keys() & after.keys()  # a measurement that ended meanwhile writes anew
        assert held and len(same) > 10
        assert {said: after[said] for said in same} == {said: before[said] for said in same}
