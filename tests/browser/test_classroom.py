"""A class in real browsers: cards, answers and reveal arrive by themselves, for latecomers too."""

import re

import pytest
from playwright.sync_api import Page, expect

from attnviz.i18n import LANGUAGES, Language, text
from attnviz.teach.lessons.cards.texts import lesson_texts
from tests.browser.conftest import OpenVisit
from tests.support.browser import accessibility_problems
from tests.support.visit import expect_live
from tests.support.waiting import expect_true

CODE = re.compile(r"[2-9A-Z]{3}-[2-9A-Z]{3}")
COUNTS = {"nothing": 1, "sums": 0, "error": 1}
LINE, MOST_PX = ".st-key-attnviz-widget-class-line", 60  # of the teacher's bar
EN, JA = lesson_texts("block", "en"), lesson_texts("block", "ja")

SHARPER = EN.of("sharper", "title").partition("[[")[0].strip()


def heading(page: Page, title: str) -> None:
    expect(page.get_by_role("heading", name=title)).to_be_visible()


def drawn(page: Page) -> None:
    """Waits for the board: the page below it, where a class is opened, then keeps its place."""
    expect(page.locator(".av-board table").first).to_be_visible()


@pytest.mark.slow
def test_a_class_of_two_and_a_latecomer(visit: OpenVisit) -> None:
    presenter = visit("learn", lesson="block", card="order", canvases=False)
    lead = presenter.page
    expect(lead.get_by_text(EN.of("order", "option.nothing"), exact=True)).to_be_visible()
    lead.get_by_role("button", name="Teach this lesson").click()
    lead.get_by_role("button", name="Open a class").click()
    code = lead.get_by_role("heading", name=CODE).inner_text()
    expect_live(lead)
    one = visit("learn", room=code, canvases=False)
    two = visit("learn", room=code, locale="ja", scheme="dark", canvases=False)
    for follower in (one.page, two.page):
        expect_live(follower)
    heading(two.page, JA.of("order", "title"))
    expect(lead.get_by_text("2 here · 0 answered")).to_be_visible()

    one.page.get_by_role("radio", name=EN.of("order", "option.nothing")).click()
    two.page.get_by_role("radio", name=JA.of("order", "option.error")).click()
    expect(lead.get_by_text("2 here · 2 answered")).to_be_visible()
    bars = [f"{EN.of('order', f'option.{name}')}: {n}" for name, n in COUNTS.items()]
    expect(lead.get_by_text(bars[0])).to_have_count(0)
    lead.get_by_role("button", name="See the answers now").click()
    for said in bars:
        expect(lead.get_by_text(said)).to_be_visible()
    expect(one.page.get_by_text(EN.of("order", "takeaway"))).to_have_count(0)

    lead.get_by_role("button", name="Reveal the answer").click()
    expect(one.page.get_by_text(EN.of("order", "feedback.nothing"))).to_be_visible()
    own = one.page.get_by_role("radio", name=EN.of("order", "option.nothing"))
    expect(own).to_contain_text("✗ yours")
    expect(two.page.get_by_text(JA.of("order", "takeaway"))).to_be_visible()

    lead.get_by_role("button", name="Next →").click()
    heading(one.page, SHARPER)
    late = visit("learn", room=code, canvases=False)
    heading(late.page, SHARPER)
    expect(lead.get_by_text("3 here")).to_be_visible()
    expect_live(late.page)
    late.page.goto("about:blank")
    expect(lead.get_by_text("2 here")).to_be_visible()
    assert not accessibility_problems(lead) and not accessibility_problems(one.page)


@pytest.mark.slow
def test_a_class_goes_along_survives_a_reload_and_ends_with_a_card(visit: OpenVisit) -> None:
    presenter = visit("learn", lesson="block", card="order", canvases=False)
    lead = presenter.page
    expect(lead.get_by_text(EN.of("order", "option.nothing"), exact=True)).to_be_visible()
    lead.get_by_role("button", name="Teach this lesson").click()
    lead.get_by_role("button", name="Open a class").click()
    expect(lead.locator(".st-key-attnviz-widget-class-bar h1")).to_be_in_viewport()
    one = visit("learn", room=lead.get_by_role("heading", name=CODE).inner_text(), canvases=False)
    expect_live(one.page)
    lead.get_by_role("button", name="Begin").click()
    expect(lead.get_by_role("button", name="Begin")).to_have_count(0)
    lead.reload()  # the address has no key, the tab has
    expect_live(lead)
    expect(lead.get_by_role("button", name="Next →")).to_be_visible()
    expect(lead).not_to_have_url(re.compile("host"))
    expect(one.page).not_to_have_url(re.compile("seat"))

    presenter.go("overview")
    expect(one.page).to_have_url(re.compile("/look"))
    presenter.go("learn")
    expect(one.page).to_have_url(re.compile("/learn"))

    presenter.open_menu("class.tools")
    lead.get_by_text("End the class", exact=True).click()
    lead.get_by_role("button", name="End it for everyone").click()
    heading(lead, "Report of the class")
    heading(one.page, "The class has ended")
    expect(one.page.get_by_role("button", name="To the lessons")).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_teachers_bar_is_one_line_and_a_count(visit: OpenVisit, lang: Language) -> None:
    view = {"lesson": "block", "card": "order", "lang": lang}
    lead = visit("learn", canvases=False, **view).page
    option = lesson_texts("block", lang).of("order", "option.nothing")
    expect(lead.get_by_text(option, exact=True)).to_be_visible()
    for key in ("teach_title", "teach", "begin"):
        lead.get_by_role("button", name=text(lang, f"class.{key}"), exact=True).click()
    bar = lead.locator(".st-key-attnviz-widget-class-bar")
    line, menu = bar.locator(LINE), bar.get_by_role("button", name=text(lang, "class.tools"))
    for width in (390, 1024, 1280, 1920):
        lead.set_viewport_size({"width": width, "height": 900})
        expect_true(lambda: (line.bounding_box() or {"height": 900})["height"] <= MOST_PX)
        expect(menu).to_be_in_viewport(ratio=1)


@pytest.mark.slow
def test_what_the_presenter_points_at_is_marked_for_the_class(visit: OpenVisit) -> None:
    lead = visit("learn", lesson="block", card="softmax", canvases=False).page
    drawn(lead)
    lead.get_by_role("button", name="Teach this lesson").click()
    lead.get_by_role("button", name="Open a class").click()
    follower = visit(
        "learn", room=lead.get_by_role("heading", name=CODE).inner_text(), canvases=False
    ).page
    expect_live(follower)
    lead.locator('[data-panel="masked"] td[data-row="2"][data-column="1"]').click()
    marked = follower.locator('[data-panel="masked"] td.av-board-pointed')
    expect(marked).to_have_count(7)  # row 2 and column 1 of four by four


def test_a_head_that_the_presenter_switches_is_switched_for_the_class(visit: OpenVisit) -> None:
    lead = visit("learn", lesson="ask", card="real", answers="real=?").page
    lead.get_by_role("button", name="Teach this lesson").click()
    lead.get_by_role("button", name="Open a class").click()
    code = lead.get_by_role("heading", name=CODE).inner_text()
    expect_live(lead)
    opened = visit("learn", room=code)
    expect_live(opened.page)
    opened.wait_for_parameters(layer=3, head=1)
    lead.get_by_role("button", name="Previous head").click()
    lead.get_by_role("button", name="Begin").hover()  # the choice is told on leaving
    opened.wait_for_parameters(layer=3, head=0)
    expect(opened.page.locator(".av-head").get_by_text("L3.H0").first).to_be_visible()
