"""The address restores a view, also as a fresh server's first request; the language is in it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from attnviz.app.session import routes, widgets
from attnviz.i18n import LANGUAGES, Language, text
from attnviz.pictures.shared.pages import Door
from tests.browser.conftest import OpenVisit
from tests.support.browser import settle
from tests.support.cases import mostly_slow
from tests.support.server import serve
from tests.support.visit import ANYTHING, Visit, expect_data

TEXT = "Paris is big, and the river of Paris is long."
SECOND = "It is warm."
VIEW = {
    "text": TEXT,
    "text2": SECOND,
    "lang": "ja",
    "layer": 4,
    "head": 6,
    "query": 5,
    "key": 3,
    "scale": "log",
    "special": "hide",
}
PAGES = ("overview", "head", "steps", "masks")


@pytest.fixture
def fresh_server() -> Iterator[str]:
    """An app that nobody has opened yet. A test names it before `visit`: its pages end first."""
    with serve() as url:
        yield url


def expect_language(visit: Visit, lang: Language, page: Door) -> None:
    """Waits until the bar, the title and the text box speak this language."""
    room = routes.room(page)
    bar = visit.page.locator(f".{widgets.class_name('bar')}")
    links = bar.get_by_test_id("stPageLink-NavLink")
    rooms = [text(lang, f"room.{room}") for room in routes.ROOMS if room != routes.DEFAULT]
    has_faces = len(routes.ROOMS[room]) > 1  # a single page goes by the name of its room
    faces = [text(lang, f"page.{face}.title") for face in routes.ROOMS[room] if has_faces]
    expect(links).to_have_text([text(lang, "app.name"), *rooms, *faces])
    current = visit.page.locator("a[aria-current=page]")
    title = text(lang, f"page.{page}.title")
    expect(current).to_have_text([text(lang, f"room.{room}"), *([title] if has_faces else [])])
    expect(visit.page.get_by_role("heading", level=1)).to_have_text(title)
    expect(visit.page).to_have_title(f"{title} · {text(lang, 'app.name')}")
    box = visit.page.get_by_role("textbox", name=text(lang, "menu.text"), exact=True)
    expect(box).to_be_visible()


def check_restored(visit: Visit, page: Door) -> None:
    expect_language(visit, "ja", page)
    expect(visit.page.get_by_test_id("stSidebarNav")).to_have_count(0)  # Streamlit's old page mode
    box = visit.page.get_by_role("textbox", name=text("ja", "menu.text"), exact=True)
    expect(box).to_have_value(TEXT)
    visit.wait_for_parameters(**VIEW)


@pytest.mark.slow
def test_head_on_a_fresh_server(fresh_server: str, visit: OpenVisit) -> None:
    opened = visit("head", url=fresh_server, fresh=True, **VIEW)
    check_restored(opened, "overview")
    canvas = opened.page.locator(".av-head-left canvas[data-layer]")
    expect_data(canvas, layer=4, head=6, query=5, key=3, scale="log", special="hide")
    hide = opened.page.get_by_label(text("ja", "component.head.hide_special"))
    expect(hide).to_be_checked()
    log = opened.page.get_by_role("radio", name=text("ja", "component.shared.scale_log"))
    expect(log).to_be_checked()


@pytest.mark.slow
def test_steps_on_a_fresh_server(fresh_server: str, visit: OpenVisit) -> None:
    opened = visit("steps", url=fresh_server, fresh=True, **VIEW)
    check_restored(opened, "steps")
    weights = opened.page.locator(".panel[data-stage=weights]")
    expect_data(weights.locator("canvas[role=img]"), layer=4, head=6, cell="5,3")
    expect(weights.locator(".scale")).to_contain_text("log")


@pytest.mark.slow
def test_masks_on_a_fresh_server(fresh_server: str, visit: OpenVisit) -> None:
    opened = visit("masks", url=fresh_server, fresh=True, **VIEW)
    check_restored(opened, "masks")
    maps = opened.page.locator(".map canvas[role=img]")
    expect(maps).to_have_count(2)
    expect_data(maps.first, layer=4, head=6, cell="5,3")
    expect(opened.page.locator("div.legend")).to_contain_text("log")
    second = opened.page.get_by_role("textbox", name=text("ja", "menu.text2"), exact=True)
    expect(second).to_have_value(SECOND)


def test_overview_restores_its_head(visit: OpenVisit) -> None:
    opened = visit("overview", **VIEW)
    check_restored(opened, "overview")
    expect_data(opened.page.locator(".av-grid-side canvas").first, layer=4, head=6)


@pytest.mark.slow
def test_reloading_keeps_what_was_chosen_in_the_component(visit: OpenVisit) -> None:
    opened = visit("head", text=TEXT, layer=1, head=2)
    canvas = opened.page.locator(".av-head-left canvas[data-layer]")
    canvas.focus()
    opened.page.keyboard.press("Shift+ArrowDown")
    opened.page.get_by_role("radio", name="linear").click()
    opened.wait_for_parameters(layer=2, head=2, scale="linear")
    opened.page.reload()
    settle(opened.page)
    expect_data(canvas, layer=2, head=2, scale="linear")
    opened.wait_for_parameters(text=TEXT, layer=2, head=2, scale="linear")


def test_the_language_is_switched_and_kept(visit: OpenVisit) -> None:
    opened = visit("overview", text=TEXT)
    expect_language(opened, "en", "overview")
    opened.choose("Language", text("ko", "language.name"), menu="menu.more")
    expect_language(opened, "ko", "overview")
    opened.wait_for_parameters(lang="ko", text=TEXT)
    opened.page.reload()
    expect_language(opened, "ko", "overview")


@pytest.mark.parametrize(
    ("locale", "lang"),
    mostly_slow([("ja-JP", "ja"), ("zh-CN", "zh"), ("fr-FR", "en")], 1),
)
def test_the_browser_decides_the_language_where_the_address_does_not(
    visit: OpenVisit, locale: str, lang: str
) -> None:
    opened = visit("overview", locale=locale)
    expect_language(opened, lang, "overview")
    opened.wait_for_parameters(lang=None)


@pytest.mark.slow
@pytest.mark.parametrize("lang", mostly_slow(LANGUAGES, ("en",)))
def test_the_address_has_the_last_word_on_the_language(visit: OpenVisit, lang: str) -> None:
    opened = visit("head", locale="ja-JP", lang=lang)
    expect_language(opened, lang, "overview")
    expected = text(lang, "component.head.hide_special")
    expect(opened.page.get_by_label(expected)).to_be_visible()


@pytest.mark.slow
def test_nonsense_in_the_address_is_named_and_replaced(visit: OpenVisit) -> None:
    opened = visit("head", layer=3, head="x", scale="loud", special="hide")
    alert = opened.page.get_by_test_id("stAlert")
    expect(alert).to_contain_text("head, scale")
    canvas = opened.page.locator(".av-head-left canvas[data-layer]")
    expect_data(canvas, layer=3, head=0, scale="sqrt", special="hide")
    expect(canvas).to_have_attribute("data-drawn", ANYTHING)
    opened.wait_for_parameters(layer=3, special="hide", scale=None)
