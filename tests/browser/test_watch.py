"""No page reaches outside, complains or asks anything; and the record of it all does see that."""

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import OpenVisit
from tests.support.visit import open_visit

PAGES = ("", "head", "steps", "masks")


@pytest.mark.parametrize("path", PAGES)
def test_no_page_reaches_outside_complains_or_asks(visit: OpenVisit, path: str) -> None:
    opened = visit(path)
    assert opened.seen.sent  # the record runs
    assert opened.seen.problems() == []
    loaded = opened.page.evaluate("performance.getEntriesByType('resource').map((e) => e.name)")
    assert loaded
    assert [url for url in loaded if not url.startswith((opened.url, "blob:", "data:"))] == []


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("fetch('http://192.0.2.1/x').catch(() => 0)", "request left this machine"),
        ("new Image().src = 'https://192.0.2.1/x.png'", "request left this machine"),
        ("new WebSocket('ws://127.0.0.1:9/')", "request left this machine"),
        ("console.error('broken')", "console: broken"),
        ("setTimeout(() => { throw new Error('late') })", "console: late"),
        ("setTimeout(() => alert('boo'))", "dialog: boo"),
    ],
)
def test_the_record_sees(browser: Browser, server: str, script: str, problem: str) -> None:
    opened = open_visit(browser, server)
    opened.page.route("**/192.0.2.1/**", lambda route: route.abort())
    opened.page.evaluate(f"() => {{ {script}; }}")
    opened.wait_until(lambda: any(found.startswith(problem) for found in opened.seen.problems()))
    opened.page.context.close()
