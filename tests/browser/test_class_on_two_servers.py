"""A class on two processes with a real store: one is killed, its pages come back by the other."""

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, Page, expect

from attnviz.lessons.cards.texts import lesson_texts
from attnviz.ui.server.class_socket import REDIS_VARIABLE
from tests.support.balancer import balancer
from tests.support.redis_server import redis_server
from tests.support.server import Running, running

CODE = re.compile(r"[2-9A-Z]{3}-[2-9A-Z]{3}")
EN = lesson_texts("block", "en")
BACK_S = 5.0
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def two() -> Iterator[tuple[str, tuple[Running, Running]]]:
    """The address of a balancer, and the two processes behind it, which share a store."""
    with ExitStack() as stack:
        env = {REDIS_VARIABLE: stack.enter_context(redis_server())}
        first, second = (stack.enter_context(running(env=env)) for _ in range(2))
        ports = [int(app.url.rsplit(":", 1)[1]) for app in (first, second)]
        yield stack.enter_context(balancer(ports)), (first, second)


def opened(browser: Browser, url: str, path: str, server: int) -> Page:
    """A page of its own browser, which the balancer keeps on one of the servers."""
    context = browser.new_context(locale="en")
    context.add_cookies([{"name": "attnviz", "value": str(server), "url": url}])
    page = context.new_page()
    page.goto(f"{url}/{path}")
    return page


def live(page: Page, heed: str, limit_s: float = 60.0) -> None:
    line = page.locator('.av-listener[data-heard="live"]')
    expect(line, f"{heed} is not live").to_be_visible(timeout=1000 * limit_s)


def test_a_class_survives_the_death_of_a_process(
    browser: Browser, two: tuple[str, tuple[Running, Running]]
) -> None:
    url, (first, _) = two
    lead = opened(browser, url, "learn?lesson=block&card=order", server=0)
    lead.get_by_role("button", name="Teach this lesson").click()
    lead.get_by_role("button", name="Open a class").click()
    code = lead.get_by_role("heading", name=CODE).inner_text()
    live(lead, "the presenter")
    followers = [opened(browser, url, f"learn?room={code}", server) for server in (0, 1, 0)]
    for page in followers:
        live(page, "a follower")
        page.get_by_text(EN.of("order", "option.nothing"), exact=True).click()
    expect(lead.get_by_text("3 here · 3 answered")).to_be_visible()

    killed = time.monotonic()
    first.process.kill()
    for page in (lead, *followers):
        expect(page.locator('.av-listener[data-heard="lost"]')).to_have_count(
            0, timeout=1000 * BACK_S
        )
    lead.get_by_role("button", name="Reveal the answer").click()
    for page in followers:
        left = BACK_S - (time.monotonic() - killed)
        expect(page.get_by_text(EN.of("order", "feedback.nothing"))).to_be_visible(
            timeout=1000 * left
        )
    for page in (lead, *followers):
        live(page, "who came back")
    expect(lead.get_by_text("3 here · 3 answered")).to_be_visible()  # the same three
    late = opened(browser, url, f"learn?room={code}", server=0)
    live(late, "a latecomer")
    expect(lead.get_by_text("4 here · 3 answered")).to_be_visible()
    for page in (lead, late, *followers):
        page.context.close()
