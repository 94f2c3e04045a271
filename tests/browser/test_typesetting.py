"""Lines over many widths: Japanese and Chinese punctuation, whole Korean words, fonts."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from attnviz.i18n import Language, tag
from tests.browser.conftest import OpenVisit
from tests.support.visit import new_page, show
from tests.support.waiting import expect_equal, expect_true

pytestmark = pytest.mark.slow

PAGES: dict[str, dict[str, str]] = {
    "": {},
    "look": {},
    "head": {},
    "steps": {},
    "masks": {},
    "switches": {},
    "output": {},
    "learn": {"lesson": "block", "card": "sizes"},
}
WIDTHS = range(360, 1521, 40)  # thirty
HEIGHT = 900
# what begins no line, and what ends none (JIS X 4051, strict; GB/T 15834 for Chinese)
CLOSING = "、。，．：；？！）」』】〕〉》’”…‥"
SMALL = "ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶー々ゝゞ・"
OPENING = "（「『【〔〈《‘“"
NOT_FIRST: dict[Language, str] = {"ja": CLOSING + SMALL, "zh": CLOSING, "ko": ".,:;?!)]」』”’"}
NOT_LAST: dict[Language, str] = {"ja": OPENING, "zh": OPENING, "ko": "([「『“‘"}
HANGUL = re.compile("[가-힣]")
HEIGHTS = """() => [...document.querySelectorAll("p, h1, h2, label")]
    .map((node) => [node.textContent, node.getBoundingClientRect().height])"""
# Every end of a line in sight, as the signs before and after it, and True if a blank is between.
# A box inside a line, as a formula, counts as one sign.
BREAKS = """() => {
    const found = [];
    const isInline = (node) => getComputedStyle(node).display === "inline";
    const range = document.createRange();
    function* signs(node) {
        for (const child of node.childNodes) {
            if (child.nodeType === Node.TEXT_NODE) {
                for (let at = 0; at < child.length; at++) {
                    range.setStart(child, at);
                    range.setEnd(child, at + 1);
                    yield { sign: child.data[at], box: range.getClientRects()[0] };
                }
            } else if (child.nodeType === Node.ELEMENT_NODE) {
                if (isInline(child) && child.tagName !== "SVG") yield* signs(child);
                else if (getComputedStyle(child).display.startsWith("inline"))
                    yield { sign: "\\ufffc", box: child.getBoundingClientRect() };
                else yield { sign: "\\n", box: null };
            }
        }
    }
    const look = (block) => {
        let last = null, blank = false, line = "";
        for (const { sign, box } of signs(block)) {
            if (sign === "\\n") { last = null; line = ""; continue; }
            if (/\\s/.test(sign)) { blank = true; continue; }
            if (!box || !box.width) continue;
            const isBelow = last && box.top >= last.box.bottom - box.height / 2;
            if (isBelow && box.left < last.box.right - 1) {
                found.push({ before: last.sign, after: sign, blank, line });
                line = "";
            }
            line += sign;
            last = { sign, box };
            blank = false;
        }
    };
    const skipped = new Set(["SCRIPT", "STYLE", "CANVAS", "SVG", "TEXTAREA", "PRE", "CODE"]);
    const walk = (node) => {
        if (node.nodeType === Node.ELEMENT_NODE) {
            if (skipped.has(node.tagName.toUpperCase()) || !node.checkVisibility()) return;
            const children = [...node.childNodes];
            const isText = (child) => child.nodeType === Node.TEXT_NODE && child.data.trim();
            const hasLines = children.some(isText) || [...node.children].some(isInline);
            if (!isInline(node) && hasLines) look(node);
            if (node.shadowRoot) walk(node.shadowRoot);
        }
        for (const child of node.childNodes) walk(child);
    };
    walk(document.body);
    return found;
}"""


def breaks(page: Page, lang: Language) -> Iterator[str]:
    """The ends of lines in sight that the language does not allow, with what stands there."""
    for found in page.evaluate(BREAKS):
        before, after, line = found["before"], found["after"], found["line"]
        in_word = HANGUL.match(before) and HANGUL.match(after) and not found["blank"]
        first = after in NOT_FIRST[lang] if after else False
        alone = line in tuple(CLOSING)
        if first or (before and before in NOT_LAST[lang]) or in_word or alone:
            yield f"{line[-12:]} / {after}"


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("lang", NOT_FIRST)
def test_lines_end_where_the_language_allows_it(
    visit: OpenVisit, lang: Language, path: str
) -> None:
    page = visit(path, lang=lang, **PAGES[path]).page
    expect_equal(lambda: page.evaluate("document.documentElement.lang"), tag(lang))
    seen = dict[str, list[int]]()
    n_breaks = 0
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        page.wait_for_timeout(150)
        n_breaks += len(page.evaluate(BREAKS))
        for wrong in breaks(page, lang):
            seen.setdefault(wrong, []).append(width)
    assert n_breaks > len(WIDTHS), "lines are counted"
    assert not seen, seen


@pytest.mark.parametrize("lang", NOT_FIRST)
def test_every_glyph_comes_from_the_family_of_its_language(
    visit: OpenVisit, lang: Language
) -> None:
    own = {"ja": "CJK JP", "ko": "CJK KR", "zh": "CJK SC"}[lang]
    for path, query in PAGES.items():
        page = visit(path, lang=lang, **query).page
        expect_equal(lambda page=page: page.evaluate("document.documentElement.lang"), tag(lang))
        counted = glyphs(page)
        foreign = {name: n for name, n in counted.items() if "CJK" in name and own not in name}
        assert not foreign, (path, counted)


def glyphs(page: Page) -> dict[str, int]:
    """The number of glyphs of each family on a page, also inside components."""
    session = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        session.send(f"{domain}.enable")
    nodes: Any = session.send("DOM.getFlattenedDocument", {"depth": -1, "pierce": True})["nodes"]
    counted = dict[str, int]()
    parents = {node["parentId"] for node in nodes if node["nodeType"] == 3 and "parentId" in node}
    for parent in parents:
        fonts = session.send("CSS.getPlatformFontsForNode", {"nodeId": parent})["fonts"]
        for font in fonts:
            name = font["familyName"]
            counted[name] = counted.get(name, 0) + int(font["glyphCount"])
    session.detach()
    return counted


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_the_fonts_of_the_app_move_no_line_when_they_come(
    browser: Browser, server: str, lang: Language
) -> None:
    """A page whose fonts are held back has its lines where they are once the fonts are there."""
    held = list[Route]()
    page = new_page(browser)
    page.route("**/*.woff2", held.append)
    show(page, server, "look", lang=lang)
    before = page.evaluate(HEIGHTS)
    assert held and before
    for route in held:
        route.continue_()
    expect_true(lambda: page.evaluate("document.fonts.status") == "loaded")
    assert page.evaluate(HEIGHTS) == before
    page.context.close()
