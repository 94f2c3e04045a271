"""The bar in haste: what is done right after something else still does what it says."""

import pytest
from playwright.sync_api import expect

from attnviz.i18n import Language, text
from tests.browser.conftest import OpenVisit
from tests.support.cases import mostly_slow
from tests.support.waiting import expect_equal, expect_true

TEXT = "The cat sat on the mat."
TYPED = "Dogs ran home."
COMPUTE = text("en", "room.compute")  # opens on Steps


def title(page: str, lang: str = "en") -> str:
    return text(lang, f"page.{page}.title")


@pytest.mark.parametrize("press_ms", mostly_slow([30, 200], 1))
def test_a_link_takes_along_what_was_just_typed(visit: OpenVisit, press_ms: int) -> None:
    """The press on the link ends typing, so a new text and a new page reach the server at once."""
    opened = visit("head", lang="en")
    box = opened.page.get_by_role("textbox", name=text("en", "menu.text"), exact=True)
    box.fill(TYPED)
    opened.page.get_by_role("link", name=COMPUTE, exact=True).click(delay=press_ms)
    expect(opened.page.get_by_role("heading", level=1)).to_have_text(title("steps"))
    opened.wait_for_parameters(text=TYPED)
    expect(box).to_have_value(TYPED)


@pytest.mark.slow
def test_a_link_pressed_before_the_text_was_sent_opens_its_page(visit: OpenVisit) -> None:
    """In a slow browser Streamlit's timer for the text comes after the click, as it does here."""
    opened = visit("head", lang="en")
    box = opened.page.get_by_role("textbox", name=text("en", "menu.text"), exact=True)
    box.fill(TYPED)
    link = opened.page.get_by_role("link", name=COMPUTE, exact=True)
    box.evaluate("(box, link) => { box.blur(); link.click(); }", link.element_handle())
    expect(opened.page.get_by_role("heading", level=1)).to_have_text(title("steps"))
    opened.wait_for_parameters(text=TYPED)
    expect(box).to_have_value(TYPED)


@pytest.mark.slow
def test_a_tap_on_a_link_takes_along_the_head_just_chosen(visit: OpenVisit) -> None:
    opened = visit("head", lang="en", text=TEXT)
    opened.page.locator(".av-head-left canvas[data-layer]").focus()
    for _ in range(3):
        opened.page.keyboard.press("]")
    opened.page.get_by_role("link", name=COMPUTE, exact=True).click()
    expect(opened.page.get_by_role("heading", level=1)).to_have_text(title("steps"))
    opened.wait_for_parameters(layer=0, head=3)


@pytest.mark.slow
def test_back_returns_in_one_step(visit: OpenVisit) -> None:
    opened = visit("overview", lang="en", text=TEXT, layer=2, head=3)
    before = opened.page.evaluate("history.length")
    opened.go("steps")
    expect(opened.page.get_by_role("heading", level=1)).to_have_text(title("steps"))
    opened.wait_for_parameters(text=TEXT, layer=2, head=3)
    expect_equal(lambda: opened.page.evaluate("history.length"), before + 1)


@pytest.mark.slow
def test_the_model_outlives_a_change_of_language(visit: OpenVisit) -> None:
    opened = visit("masks", lang="en", text=TEXT)
    opened.choose(text("en", "language.label"), text("zh", "language.name"), menu="menu.more")
    expect(opened.page.get_by_role("heading", level=1)).to_have_text(title("masks", "zh"))
    second = opened.page.get_by_role("textbox", name=text("zh", "menu.text2"))
    second.fill("")
    second.press("Enter")
    expect(opened.page.locator(".map canvas[role=img]")).to_have_count(1)
    opened.wait_for_parameters(model=None, text2="", lang="zh")


def test_enter_applies_a_text_and_the_list_brings_an_example(visit: OpenVisit) -> None:
    opened = visit("masks", lang="en", text=TEXT)
    box = opened.page.get_by_role("textbox", name=text("en", "menu.text"), exact=True)
    box.fill("Dogs")
    box.press("Shift+Enter")
    box.press_sequentially("ran.")
    expect(box).to_have_value("Dogs\nran.")
    opened.wait_for_parameters(text=TEXT)  # a new line applies nothing
    box.press("Enter")
    opened.wait_for_parameters(text="Dogs\nran.")
    expect(box).to_have_value("Dogs\nran.")
    expect(box).not_to_be_focused()  # the tokens show again
    opened.take_example(text("en", "example.wide"))
    opened.wait_for_parameters(text=text("en", "example.wide"))
    expect(box).to_have_value(text("en", "example.wide"))


@pytest.mark.parametrize("lang", mostly_slow(["ja", "en"], 1))
def test_on_a_tablet_the_faces_of_a_room_stand_below_its_name(
    visit: OpenVisit, lang: Language
) -> None:
    page = visit("overview", lang=lang, screen=(1024, 768)).page
    links = [
        page.get_by_role("link", name=name, exact=True)
        for name in (text(lang, "room.look"), text(lang, "page.overview.title"))
    ]

    def is_below() -> bool:
        room, face = (link.bounding_box() for link in links)
        return bool(room and face and face["y"] > room["y"] and face["x"] < room["x"])

    expect_true(is_below)
