"""The record of what a page does sees a request outside, a complaint and a dialog."""

import pytest
from playwright.sync_api import Browser

from tests.support.visit import show

SCRIPTS = {
    "fetch('http://192.0.2.1/x').catch(() => 0)": "request left this machine",
    "new Image().src = 'https://192.0.2.1/x.png'": "request left this machine",
    "new WebSocket('ws://127.0.0.1:9/')": "request left this machine",
    "console.error('broken')": "console: broken",
    "setTimeout(() => { throw new Error('late') })": "console: late",
    "setTimeout(() => alert('boo'))": "dialog: boo",
}


@pytest.mark.slow
def test_the_record_sees_each_of_these(browser: Browser, server: str) -> None:
    # the server's policy would keep the page from asking at all
    opened = show(browser.new_context(bypass_csp=True).new_page(), server, "overview")
    opened.page.route("**/192.0.2.1/**", lambda route: route.abort())
    assert opened.seen.problems() == []
    for script, problem in SCRIPTS.items():
        before = len([found for found in opened.seen.problems() if found.startswith(problem)])
        opened.page.evaluate(f"() => {{ {script}; }}")
        opened.wait_until(
            lambda problem=problem, before=before: (
                len([found for found in opened.seen.problems() if found.startswith(problem)])
                > before
            )
        )
    opened.page.context.close()
