"""A page in each language: what the document says, which glyphs it is set in, where lines break."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from attnviz.i18n import LANGUAGES, Language, tag, text
from tests.browser.conftest import OpenVisit
from tests.support.waiting import expect_equal, expect_true

# the family that a machine with Noto has for each script, and the breaks of a paragraph
GLYPHS: dict[Language, str] = {
    "ja": "Noto Sans CJK JP",
    "ko": "Noto Sans CJK KR",
    "zh": "Noto Sans CJK SC",
}
BREAKS: dict[Language, tuple[str, str]] = {
    "ja": ("break-word", "strict"),
    "ko": ("keep-all", "auto"),
}
PARAGRAPH = "[data-testid=stMain] p"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_document_says_its_language(visit: OpenVisit, lang: Language) -> None:
    page = visit("overview", lang=lang).page
    expect_equal(lambda: page.evaluate("document.documentElement.lang"), tag(lang))
    expect(page.locator(PARAGRAPH).first).to_be_visible()
    word, line = BREAKS.get(lang, ("break-word", "auto"))
    style = "node => [getComputedStyle(node).wordBreak, getComputedStyle(node).lineBreak]"
    expect_equal(lambda: page.locator(PARAGRAPH).first.evaluate(style), [word, line])


@pytest.mark.parametrize("lang", GLYPHS)
def test_a_language_is_set_in_its_own_glyphs(visit: OpenVisit, lang: Language) -> None:
    page = visit("overview", lang=lang).page
    expect_equal(lambda: page.evaluate("document.documentElement.lang"), tag(lang))
    session = page.context.new_cdp_session(page)

    def families() -> set[str]:
        for domain in ("DOM", "CSS"):
            session.send(f"{domain}.enable")
        root = session.send("DOM.getDocument")["root"]["nodeId"]
        found: Any = session.send(
            "DOM.querySelectorAll", {"nodeId": root, "selector": f"{PARAGRAPH}, h1, h2"}
        )
        return {
            font["familyName"]
            for node in found["nodeIds"]
            for font in session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
            if "CJK" in font["familyName"]
        }

    expect_true(lambda: families() <= {GLYPHS[lang]})  # none where the machine has no Noto
    family = page.locator(PARAGRAPH).first.evaluate("node => getComputedStyle(node).fontFamily")
    asked = [name for name in family.split(", ") if name.strip('"') in GLYPHS.values()]
    assert asked[0] == f'"{GLYPHS[lang]}"'
    session.detach()


def test_streamlits_own_words_are_in_the_language_of_the_page(visit: OpenVisit) -> None:
    opened = visit("calculator", lang="ja")
    page = opened.page
    page.get_by_role("button", name=text("ja", "lab.numbers"), exact=True).click()
    help_of_x = page.get_by_role(
        "button", name=text("ja", "streamlit.help_for", what="X"), exact=True
    )
    expect(help_of_x.first).to_be_attached()
    expect(page.locator("[data-testid=stSkipToContent]")).to_have_text(text("ja", "streamlit.skip"))
    english = page.locator("[aria-label^='Help'], [aria-label='Open'], [placeholder^='Choose']")
    expect(english).to_have_count(0)


# where tokens and examples stand, by the page that shows them first
ENGLISH = {
    "": (".stage-token:not(.special)", ".stage-examples .av-button", ".stage-name"),
    "overview": (".av-strip .av-chip:not(.av-special)", ".strip-example span", ".av-fact-query"),
}


@pytest.mark.parametrize("path", ENGLISH)
def test_tokens_and_examples_say_that_they_are_english(visit: OpenVisit, path: str) -> None:
    page = visit(path, lang="ja").page
    expect_equal(lambda: page.evaluate("document.documentElement.lang"), "ja")
    for selector in ENGLISH[path]:
        words = page.locator(selector).filter(has_text=re.compile("[A-Za-z]"))
        expect(words.first).to_be_attached()
        expect(page.locator(f"{selector}[lang=en]")).to_have_count(words.count())
    assert page.locator(".av-caption[lang]").count() == 0


def test_a_browser_that_asks_for_spanish_gets_spanish_with_its_numbers(
    visit: OpenVisit,
) -> None:
    page = visit("head", locale="es-MX").page
    expect_equal(lambda: page.evaluate("document.documentElement.lang"), "es")
    expect(page.locator(".av-readout")).to_contain_text(re.compile(r"0,\d{4}"))
    expect(page.locator(".av-readout")).not_to_contain_text(re.compile(r"\d\.\d"))


# each line break within a block of text: the letter before it, the one behind, and whether white
# space lies between; a formula is one letter
BREAKS_OF_LINES = """() => {
    const blocks = [], found = [];
    const all = "p, li, h1, h2, h3, button, label, summary, th, td, figcaption";
    const collect = (root) => {
        const own = [...root.querySelectorAll(all)];
        blocks.push(...own.filter((node) => !node.querySelector(all)));
        for (const node of root.querySelectorAll("*")) node.shadowRoot && collect(node.shadowRoot);
    };
    collect(document);
    const isForVoices = (node) =>
        node && (node.getBoundingClientRect().width < 24 || isForVoices(node.parentElement));
    for (const block of blocks) {
        if (!block.checkVisibility() || isForVoices(block)) continue;
        const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
        let before = null, spaced = false, formula = null;
        const take = (letter, rect) => {
            if (!rect || rect.width < 0.5) return;
            if (before && rect.top > before.bottom - 3) found.push([before.letter, letter, spaced]);
            before = { letter, bottom: rect.bottom };
            spaced = false;
        };
        while (walker.nextNode()) {
            const node = walker.currentNode, own = node.parentElement.closest(".katex");
            if (own) {
                if (own !== formula) take("x", own.getBoundingClientRect());
                formula = own;
                continue;
            }
            const range = document.createRange();
            for (let at = 0; at < node.length; at++) {
                const letter = node.data[at];
                if (/\\s/.test(letter)) { spaced = true; continue; }
                range.setStart(node, at);
                range.setEnd(node, at + 1);
                take(letter, range.getClientRects()[0]);
            }
        }
    }
    return found;
}"""
NOT_FIRST = set("、。，．・：；？！）」』】〉》”’々ーぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ％")
NOT_LAST = set("（「『【〈《“‘")
HANGUL = re.compile("[가-힣]")
WIDTHS = range(320, 1520, 40)


def wrong_breaks(lang: Language, breaks: list[tuple[str, str, bool]]) -> list[str]:
    """The breaks that the rules of the language forbid."""
    if lang == "ko":
        return [
            f"{before}|{first}"
            for before, first, spaced in breaks
            if not spaced and HANGUL.match(before) and HANGUL.match(first)
        ]
    return [
        f"{before}|{first}"
        for before, first, _ in breaks
        if first in NOT_FIRST or before in NOT_LAST
    ]


@pytest.mark.slow
@pytest.mark.parametrize("lang", GLYPHS)
@pytest.mark.parametrize(
    ("path", "card"),
    [
        ("overview", ""),
        ("steps", ""),
        ("compare", ""),
        ("learn", "dictionary"),
        ("learn", "values"),
    ],
)
def test_lines_break_as_the_language_allows_at_thirty_widths(
    visit: OpenVisit, lang: Language, path: str, card: str
) -> None:
    view = {"lesson": "ask", "card": card} if card else {}
    page = visit(path, lang=lang, canvases=not card, **view).page
    wrong, n_breaks = [], 0
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(50)
        breaks = page.evaluate(BREAKS_OF_LINES)
        n_breaks += len(breaks)
        wrong += [f"{width}: {one}" for one in wrong_breaks(lang, breaks)]
    assert n_breaks > len(WIDTHS) and wrong == []


def test_a_break_that_a_language_forbids_is_found() -> None:
    assert wrong_breaks("ja", [("タ", "ー", False), ("。", "次", False)]) == ["タ|ー"]
    assert wrong_breaks("zh", [("x", "。", False), ("（", "词", False)]) == ["x|。", "（|词"]
    assert wrong_breaks("ko", [("토", "큰", False), ("큰", "은", True)]) == ["토|큰"]


@pytest.mark.parametrize("lang", ["ja", "ko", "es"])
def test_english_words_on_a_card_name_their_language(visit: OpenVisit, lang: Language) -> None:
    page = visit("learn", lang=lang, lesson="ask", card="real", canvases=False).page
    marked = page.locator("[data-testid=stMarkdownContainer] [lang=en]")
    expect(marked.filter(has_text="The animal didn't cross the street").first).to_be_visible()
    if lang != "es":  # its words may be Spanish
        expect(marked.get_by_text("animal", exact=True).first).to_be_visible()
    said = page.locator("[data-testid=stHeadingWithActionElements]").first
    assert said.evaluate("(node) => node.closest('[lang]').lang") == tag(lang)
    paragraph = page.locator(PARAGRAPH).filter(has=page.locator("span[lang=en]")).first
    assert paragraph.evaluate("(node) => node.closest('[lang]').lang") == tag(lang)


def test_french_words_are_not_called_english(visit: OpenVisit) -> None:
    card = visit("learn", lang="ja", lesson="places", card="keys", canvases=False).page
    marked = card.locator("[data-testid=stMarkdownContainer] [lang=en]")
    expect(marked.first).to_be_visible()
    expect(marked.filter(has_text=re.compile(r"\b(les?|la|un|de)\b"))).to_have_count(0)
    strip = visit("overview", lang="ja", model="translator").page
    expect(strip.locator(".av-strip .av-chip").first).to_be_visible()
    expect(strip.locator(".av-strip .av-chip[lang]")).to_have_count(0)
