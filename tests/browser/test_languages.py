"""A page in each language: what the document says, which glyphs it is set in, where lines break."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from attnviz.i18n import LANGUAGES, Language, tag, text
from attnviz.teach.course import SLUGS, lesson
from attnviz.teach.lessons.cards.symbols import with_formulas
from attnviz.teach.lessons.cards.texts import lesson_texts
from tests.browser.conftest import OpenVisit
from tests.support.browser import settle
from tests.support.cases import mostly_slow
from tests.support.visit import VIEWPORT
from tests.support.waiting import at_rest, expect_equal

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


@pytest.mark.slow
@pytest.mark.parametrize("lang", mostly_slow(LANGUAGES, ("ko",)))
def test_the_document_says_its_language(look: OpenVisit, lang: Language) -> None:
    page = look("overview", lang=lang).page
    expect_equal(lambda: page.evaluate("document.documentElement.lang"), tag(lang))
    expect(page.locator(PARAGRAPH).first).to_be_visible()
    word, line = BREAKS.get(lang, ("break-word", "auto"))
    style = "node => [getComputedStyle(node).wordBreak, getComputedStyle(node).lineBreak]"
    expect_equal(lambda: page.locator(PARAGRAPH).first.evaluate(style), [word, line])


@pytest.mark.parametrize("lang", mostly_slow(GLYPHS, ("ko",)))
def test_a_language_asks_for_its_own_family_first(look: OpenVisit, lang: Language) -> None:
    page = look("overview", lang=lang).page
    family = page.locator(PARAGRAPH).first.evaluate("node => getComputedStyle(node).fontFamily")
    asked = [name for name in family.split(", ") if name.strip('"') in GLYPHS.values()]
    assert asked[0] == f'"{GLYPHS[lang]}"'


CODE = {"CODE", "PRE", "KBD", "STYLE", "SCRIPT", "NOSCRIPT", "TITLE"}
EASTERN = "[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]"
SIGN = re.compile(r"[^\u0000-\u024f\u0370-\u03ff\u2010-\u2027]", re.UNICODE)  # no letter of a word
SET_IN = [
    (lang, path)
    for lang in (*GLYPHS, "es")
    for path in ("", "overview", "steps", "masks", "compare", "switches", "circuit", "learn")
]


def fonts_of_texts(page: Page) -> list[tuple[str, dict[str, int]]]:
    """Each text of an element, in components too, and its glyphs by family of the system."""
    session = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        session.send(f"{domain}.enable")
    root = session.send("DOM.getDocument", {"depth": -1, "pierce": True})["root"]
    found = []
    for node, said in _texts(root):
        fonts: Any = session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
        glyphs = Counter[str]()
        for font in fonts:
            glyphs[font["familyName"]] += 0 if font["isCustomFont"] else int(font["glyphCount"])
        found.append((said, dict(glyphs)))
    session.detach()
    return found


def _texts(node: Any) -> Iterator[tuple[int, str]]:
    if node["nodeName"] in CODE:
        return
    below = [*node.get("children", ()), *node.get("shadowRoots", ())]
    if any(one["nodeName"] == "#text" and one["nodeValue"].strip() for one in below):
        yield node["nodeId"], _text(node).strip()
    for one in below:
        yield from _texts(one)


def _text(node: Any) -> str:
    """What stands in a node and in those below, whose glyphs the browser counts with its own."""
    below = "".join(map(_text, node.get("children", ())))
    return below if node["nodeName"] == "#comment" else node["nodeValue"] + below


def strange_fonts(lang: Language, texts: list[tuple[str, dict[str, int]]]) -> list[str]:
    """Texts with a letter in glyphs of another language, or in another font than the rest.

    Latin letters are in the font of the app. Signs that no font of a language has may have another.
    """
    wrong = []
    for said, glyphs in texts:
        eastern = re.findall(EASTERN, said)
        others = sorted(glyphs.values())[: -1 if eastern else None]
        n_signs = len(SIGN.findall(said)) - len(eastern)
        is_foreign = eastern and any(name in glyphs for one, name in GLYPHS.items() if one != lang)
        if sum(others) > n_signs or is_foreign:
            wrong.append(f"{said[:40]}: {glyphs}")
    return wrong


@pytest.mark.parametrize(("lang", "path"), mostly_slow(SET_IN, [("zh", "overview")]))
def test_a_word_is_set_in_one_font_and_in_its_own_glyphs(
    visit: OpenVisit, lang: Language, path: str
) -> None:
    page = visit(path, lang=lang, canvases=path != "learn").page
    texts = fonts_of_texts(page)
    assert len(texts) > 30 and strange_fonts(lang, texts) == []


def test_a_word_in_two_fonts_is_found() -> None:
    def found(said: str, **glyphs: int) -> bool:
        return bool(
            strange_fonts("zh", [(said, {name.replace("_", " "): n for name, n in glyphs.items()})])
        )

    own = {"Inter Variable": 0}
    assert not found("头 3", Noto_Sans_CJK_SC=1) and not found("头 ▸", Noto_Sans_CJK_SC=1, DejaVu=1)
    assert found("头 L3", Noto_Sans_CJK_SC=1, Arial=2) and found("L3.H1", Arial=5)
    assert found("头", Noto_Sans_CJK_JP=1) and not strange_fonts("zh", [("L3", own)])


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
    "": (".stage-token:not(.special)", ".stage-examples .av-button", ".gallery-says bdi"),
    "overview": (".av-strip .av-chip:not(.av-special)", ".strip-example span", ".av-fact-query"),
    "switches": (".av-heading bdi",),
}


@pytest.mark.slow
@pytest.mark.parametrize("path", ENGLISH)
def test_tokens_and_examples_say_that_they_are_english(visit: OpenVisit, path: str) -> None:
    page = visit(path, lang="ja").page
    expect_equal(lambda: page.evaluate("document.documentElement.lang"), "ja")
    for selector in ENGLISH[path]:
        words = page.locator(selector).filter(has_text=re.compile("[A-Za-z]"))
        expect(words.first).to_be_attached()
        expect(page.locator(f"{selector}[lang=en]")).to_have_count(words.count())
    expect(page.locator(".av-caption[lang]")).to_have_count(0)


@pytest.mark.slow
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
NARROW = WIDTHS[:5]


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


# runs of two English words or more whose language is not named
UNNAMED = """() => {
    const found = [];
    const languageOf = (node) => {
        for (let at = node.parentNode; at; at = at.parentNode ?? at.host)
            if (at.lang) return at.lang;
        return "";
    };
    const collect = (root) => {
        for (const node of root.childNodes) {
            if (node.shadowRoot) collect(node.shadowRoot);
            if (node.nodeType === Node.TEXT_NODE) {
                const owner = node.parentElement;
                if (/[a-z]{2,}[,.]? [A-Za-z]?[a-z]+(?![a-z]*[_=(])/.test(node.data) &&
                    languageOf(node) !== "en" &&
                    owner?.checkVisibility() && !owner.closest("code, pre, .katex, textarea"))
                    found.push(node.data.trim());
            } else collect(node);
        }
    };
    collect(document.body);
    return found;
}"""
FRENCH = re.compile(r"\b(petit|voit|Nous|avons|reine|rouge|verte)\b")  # in the lesson on places
WITH_ENGLISH = (
    "",
    "overview",
    "compare",
    "switches",
    "circuit",
    "atlas",
    "output",
    "pairs",
    "learn",
)


@pytest.mark.slow
@pytest.mark.parametrize("path", mostly_slow(WITH_ENGLISH, ["switches"]))
def test_english_words_on_a_page_name_their_language(visit: OpenVisit, path: str) -> None:
    page = visit(
        path, lang="ja", model="stories" if path == "output" else "minilm", canvases=False
    ).page
    expect(page.locator(PARAGRAPH).first).to_be_visible()
    closed = page.locator("[data-testid=stMain] details:not([open]) > summary:visible")
    for _ in range(closed.count()):  # one that is opened is no longer among them
        closed.first.click()
    assert at_rest(lambda: page.evaluate(UNNAMED)) == []


@pytest.mark.slow
@pytest.mark.parametrize("lang", GLYPHS)
@pytest.mark.parametrize("slug", SLUGS)
def test_every_card_breaks_its_lines_well_and_names_english_words(
    visit: OpenVisit, slug: str, lang: Language
) -> None:
    page, wrong = visit("learn", lang=lang, lesson=slug, canvases=False).page, {}
    skip = page.locator("[data-testid=stSkipToContent]")
    expect(skip).to_have_text(text(lang, "streamlit.skip"))  # the script of the page is there
    *_, last = recipes = lesson(slug).recipes
    for recipe in recipes:
        heading = page.get_by_role("heading", level=2).first
        title = lesson_texts(slug, lang).of(recipe.name, "title").partition("[[")[0]
        expect(heading).to_contain_text(with_formulas(title).partition("$")[0])
        settle(page, canvases=False)
        asked = page.get_by_role("button", name=text(lang, "learn.show_answer"), exact=True)
        if asked.count():
            asked.click()
            expect(asked).to_have_count(0)
            settle(page, canvases=False)
        found = [said for said in page.evaluate(UNNAMED) if not FRENCH.search(said)]
        for width in NARROW:
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(50)
            found += wrong_breaks(lang, page.evaluate(BREAKS_OF_LINES))
        page.set_viewport_size(VIEWPORT)
        if found:
            wrong[recipe.name] = found
        if recipe is not last:
            page.get_by_role("button", name=text(lang, "learn.next"), exact=True).click()
    assert wrong == {}


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["ja", "ko", "es"])
def test_english_words_on_a_card_name_their_language(visit: OpenVisit, lang: Language) -> None:
    page = visit("learn", lang=lang, lesson="ask", card="real", canvases=False).page
    marked = page.locator("[data-testid=stMarkdownContainer] [lang=en]")
    expect(marked.filter(has_text="The animal didn't cross the street").first).to_be_visible()
    if lang != "es":  # its words may be Spanish
        expect(marked.get_by_text("animal", exact=True).first).to_be_visible()
    said = page.locator("[data-testid=stHeadingWithActionElements]").first
    expect_equal(lambda: said.evaluate("(node) => node.closest('[lang]').lang"), tag(lang))
    paragraph = page.locator(PARAGRAPH).filter(has=page.locator("span[lang=en]")).first
    expect_equal(lambda: paragraph.evaluate("(node) => node.closest('[lang]').lang"), tag(lang))


@pytest.mark.slow
def test_french_words_are_not_called_english(visit: OpenVisit) -> None:
    card = visit("learn", lang="ja", lesson="places", card="keys", canvases=False).page
    marked = card.locator("[data-testid=stMarkdownContainer] [lang=en]")
    expect(marked.first).to_be_visible()
    expect(marked.filter(has_text=re.compile(r"\b(les?|la|un|de)\b"))).to_have_count(0)
    strip = visit("overview", lang="ja", model="translator").page
    expect(strip.locator(".av-strip .av-chip").first).to_be_visible()
    expect(strip.locator(".av-strip .av-chip[lang]")).to_have_count(0)
