"""Every page in the pseudo-language: nothing that no catalogue wrote, nothing cut, nothing on top.

The app runs with accented texts that are 40 % longer than the English ones (tests.support.pseudo).
"""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from attnviz.i18n import own
from tests.browser.conftest import OpenVisit
from tests.support import server
from tests.support.pseudo import pseudo
from tests.support.texts import problems

PAGES = (
    *("", "overview", "head", "steps", "masks", "compare", "switches", "circuit", "geometry"),
    *("map", "atlas", "output", "calculator", "learn"),
)
WIDTHS = (1440, 390)
# of the sentences that open the pages, and of the one beside it that Compare and Masks show
WORDS = """The animal didn t cross the street because it was too tired wide Mary John When went
store gave book and to at minilm purple MiniLM softmax""".split()


@pytest.fixture(scope="module")
def accented() -> Iterator[str]:
    """The address of an app that speaks the pseudo-language."""
    port = server.free_port()
    _, _, _, *arguments = server.app_command(port)
    with server.serve(port, [sys.executable, "-m", "tests.support.pseudo", *arguments]) as url:
        yield url


@pytest.fixture(scope="module")
def bare(browser: Browser) -> Iterator[Page]:
    """A page for texts of the tests themselves."""
    with browser.new_context(viewport={"width": 800, "height": 600}) as context:
        yield context.new_page()


def both_widths(visit: OpenVisit, url: str, path: str, **view: Any) -> list[str]:
    """What is wrong with the texts of a page, wide and on a phone."""
    opened = visit(path, url=url, canvases=path not in ("learn", "map", "output"), **view)
    page, found = opened.page, []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        found += [f"{width}: {one}" for one in problems(page, WORDS)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES)
def test_a_page_holds_longer_words_and_has_none_of_its_own(
    visit: OpenVisit, accented: str, path: str
) -> None:
    assert both_widths(visit, accented, path) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lesson", "card"), [("where", "next"), ("ask", "turn"), ("masks", "both")]
)
def test_a_card_holds_longer_words_and_has_none_of_its_own(
    visit: OpenVisit, accented: str, lesson: str, card: str
) -> None:
    assert both_widths(visit, accented, "learn", lesson=lesson, card=card) == []


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("<p>⟦páge⟧</p>", None),
        ("<p>page</p>", "by no catalogue: page"),
        (
            "<div style='width:60px;overflow:hidden;white-space:nowrap'>⟦á löñg lábël⟧</div>",
            "cut off: ⟦á löñg lábël⟧",
        ),
        (
            "<button style='width:60px;white-space:nowrap'>⟦á löñg lábël öf á büttöñ⟧</button>",
            "out of its box: ⟦á löñg lábël öf á büttöñ⟧",
        ),
        ("<p style='white-space:nowrap'>" + "⟦á⟧" * 200 + "</p>", "out of the window: ⟦á⟧"),
        (
            "<p>⟦örë⟧ ⟦twö⟧ ⟦thrëë⟧</p><p style='position:relative;top:-32px'>⟦öthër⟧</p>",
            "on another: ⟦örë⟧ ⟦twö⟧ ⟦thrëë⟧",
        ),
        (
            "<p style='position:absolute;top:0'>⟦ä twïcë⟧</p>"
            "<p style='position:absolute;top:0px'>⟦ä twïcë⟧</p>",
            None,
        ),
        (
            "<p style='position:absolute;top:0'>⟦ä twïcë⟧</p>"
            "<p style='position:absolute;top:4px'>⟦ä twïcë⟧</p>",
            "on another: ⟦ä twïcë⟧",
        ),
        (
            "<div style='width:60px;overflow:auto;white-space:nowrap'>⟦á löñg lábël⟧</div>",
            None,
        ),
    ],
)
def test_each_kind_of_problem_is_found(bare: Page, body: str, found: str | None) -> None:
    bare.set_content(f"<!doctype html><meta charset=utf-8><body>{body}")
    seen = problems(bare, ["animal"])
    assert [one.startswith(found) for one in seen] == [True] if found else seen == []


def test_a_text_in_the_pseudo_language_is_longer_and_keeps_its_holes() -> None:
    said = pseudo("{n} {n:token|tokens} of `W_Q`, that is X·W_Q")
    assert said == "⟦{n} {n:tökëñ|tökëñš} öf `W_Q`, thát îš X·W_Q ëëë ëëë⟧"
    for key, english in own("en").items():
        assert len(pseudo(english)) >= len(english), key
