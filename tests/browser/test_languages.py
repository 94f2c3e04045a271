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
