"""The app below a folder of another server's addresses, as a university often wants it."""

import re
import urllib.request
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from attnviz.app.server.edge.health import KEY_VARIABLE
from attnviz.teach.lessons.cards.texts import lesson_texts
from tests.support.browser import settle
from tests.support.server import serve
from tests.support.visit import expect_live, open_visit

FOLDER, KEY = "courses/attn", "test"
CODE = re.compile(r"[2-9A-Z]{3}-[2-9A-Z]{3}")
EN = lesson_texts("block", "en")
SHARPER = EN.of("sharper", "title").partition("[[")[0].strip()
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def app() -> Iterator[str]:
    """The address of the app, folder included."""
    with serve(env={KEY_VARIABLE: KEY}, folder=FOLDER) as url:
        yield url


def test_pages_links_and_pictures_stay_in_the_folder(browser: Browser, app: str) -> None:
    opened = open_visit(browser, app, "overview", text="The cat sat.")
    page = opened.page
    opened.go("steps")
    expect(page).to_have_url(re.compile(f"{re.escape(app)}/compute"))
    settle(page)
    page.goto(f"{app}/start")  # another name of the first page
    expect(page).to_have_url(re.compile(rf"{re.escape(app)}/(\?|$)"))
    settle(page)
    assert not opened.seen.problems()
    page.context.close()


def test_a_class_is_opened_joined_and_led_there(browser: Browser, app: str) -> None:
    lead = open_visit(browser, app, "learn", lesson="block", card="order", canvases=False)
    page = lead.page
    expect(page.get_by_text(EN.of("order", "option.nothing"), exact=True)).to_be_visible()
    page.get_by_role("button", name="Teach this lesson").click()
    page.get_by_role("button", name="Open a class").click()
    code = page.get_by_role("heading", name=CODE).inner_text()
    expect(page.get_by_text(f"{app}/learn?room={code}")).to_be_visible()
    follower = open_visit(browser, app, "learn", room=code, canvases=False)
    expect_live(follower.page)
    page.get_by_role("button", name="Next →").click()
    expect(follower.page.get_by_role("heading", name=SHARPER)).to_be_visible()
    for visit in (lead, follower):
        assert not visit.seen.problems()
        visit.page.context.close()


def test_health_and_numbers_are_beside_the_pages(app: str) -> None:
    assert urllib.request.urlopen(f"{app}/healthz").read() == b"ok\n"
    asked = urllib.request.Request(f"{app}/metrics", headers={"Authorization": f"Bearer {KEY}"})
    assert b"attnviz_sessions " in urllib.request.urlopen(asked).read()
