"""Worksheets as a browser prints them: the questions of a lesson take at most three pages of A4."""

import re

import pytest
from playwright.sync_api import Browser

from attnviz.i18n import LANGUAGES, Language
from attnviz.teach.course import SLUGS
from attnviz.teach.course.paper import sheet
from tests.support.cases import mostly_slow
from tests.support.course import captured

MAX_PAGES = 3
PAGE = re.compile(rb"/Type\s*/Page\b")
SQUARE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>'
)
SHEETS = [(slug, lang) for slug in SLUGS for lang in LANGUAGES]


@pytest.mark.parametrize(("slug", "lang"), mostly_slow(SHEETS, [("block", "en")]))
def test_sheet_prints_its_questions_on_three_pages(
    browser: Browser, slug: str, lang: Language
) -> None:
    page = browser.new_page()
    page.set_content(sheet(slug, lang, 1, captured, "http://192.0.2.7:8501", lambda _: SQUARE))
    page.evaluate("document.querySelector('.key').remove()")
    n_pages = len(PAGE.findall(page.pdf(prefer_css_page_size=True)))
    page.close()
    assert 1 <= n_pages <= MAX_PAGES
