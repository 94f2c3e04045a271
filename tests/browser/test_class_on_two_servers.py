"""A class on two processes with a real store: one is killed, its pages come back by the other."""

import re
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, Page, expect

from attnviz.app.server.class_socket import REDIS_VARIABLE
from attnviz.app.server.edge.health import KEY_VARIABLE
from attnviz.teach.lessons.cards.texts import lesson_texts
from tests.support.balancer import balancer
from tests.support.redis_server import redis_server
from tests.support.server import Running, running
from tests.support.visit import expect_live
from tests.support.waiting import eventually, expect_equal

CODE = re.compile(r"[2-9A-Z]{3}-[2-9A-Z]{3}")
EN = lesson_texts("block", "en")
SHARPER = EN.of("sharper", "title").partition("[[")[0].strip()
BACK_S = 5.0
METRICS_KEY = "test"
pytestmark = pytest.mark.slow


@pytest.fixture
def env() -> Iterator[dict[str, str]]:
    """The settings of processes that share a store."""
    with redis_server() as store:
        yield {REDIS_VARIABLE: store, KEY_VARIABLE: METRICS_KEY}


def opened(browser: Browser, url: str, path: str, server: int) -> Page:
    """A page of its own browser, which the balancer keeps on one of the servers."""
    context = browser.new_context(locale="en")
    context.add_cookies([{"name": "attnviz", "value": str(server), "url": url}])
    page = context.new_page()
    page.goto(f"{url}/{path}")
    return page


def sessions(app: Running) -> int:
    """The number of tabs that a process serves."""
    request = urllib.request.Request(
        f"{app.url}/metrics", headers={"Authorization": f"Bearer {METRICS_KEY}"}
    )
    with urllib.request.urlopen(request) as response:
        (line,) = re.findall(r"attnviz_sessions (\d+)", response.read().decode())
    return int(line)


def port(app: Running) -> int:
    return int(app.url.rsplit(":", 1)[1])


def test_a_class_survives_the_death_of_either_process(
    browser: Browser, env: dict[str, str]
) -> None:
    with ExitStack() as stack:
        first, second = (stack.enter_context(running(env=env)) for _ in range(2))
        url = stack.enter_context(balancer([port(first), port(second)]))
        lead = opened(browser, url, "learn?lesson=block&card=order", server=1)
        lead.get_by_role("button", name="Teach this lesson").click()
        lead.get_by_role("button", name="Open a class").click()
        code = lead.get_by_role("heading", name=CODE).inner_text()
        expect_live(lead, "the presenter")
        followers = [opened(browser, url, f"learn?room={code}", server) for server in (0, 1, 0)]
        for page in followers:
            expect_live(page, "a follower")
            page.get_by_text(EN.of("order", "option.nothing"), exact=True).click()
        expect(lead.get_by_text("3 here · 3 answered")).to_be_visible()

        killed = time.monotonic()
        first.process.kill()
        lead.get_by_role("button", name="Reveal the answer").click()
        for page in followers:
            left = BACK_S - (time.monotonic() - killed)
            expect(page.get_by_text(EN.of("order", "feedback.nothing"))).to_be_visible(
                timeout=1000 * left
            )
        expect(lead.get_by_text("3 here · 3 answered")).to_be_visible()  # the same three

        third = stack.enter_context(running(port(first), env=env))
        second.process.kill()
        expect_equal(lambda: sessions(third), 1 + len(followers))
        eventually(lambda: turn(lead, SHARPER))
        for page in followers:
            expect(page.get_by_role("heading", name=SHARPER)).to_be_visible()
        late = opened(browser, url, f"learn?room={code}", server=0)
        expect(late.get_by_role("heading", name=SHARPER)).to_be_visible()
        expect(lead.get_by_text("4 here · 0 answered")).to_be_visible()
        for page in (lead, late, *followers):
            page.context.close()


def turn(lead: Page, title: str) -> None:
    """Turn to the next card; a click is lost while the page comes back, and is then made again."""
    heading = lead.get_by_role("heading", name=title)
    if not heading.is_visible():
        lead.get_by_role("button", name="Next →").click()
    expect(heading).to_be_visible(timeout=5000)
