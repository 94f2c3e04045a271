"""The server ends within seconds of Ctrl+C or SIGTERM, though a visitor's work is under way."""

import signal
import time
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, expect

from tests.support.server import running

END_S = 5.0
LONG = "the cat sat " * 150  # its circuit takes far more than `END_S`
CIRCUIT = urlencode({"model": "minilm", "text": LONG, "paths": 1})
pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 1), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_server_ends_while_it_computes(browser: Browser, how: signal.Signals, code: int) -> None:
    with running() as app:
        page = browser.new_page(locale="en")
        page.goto(f"{app.url}/circuit?{CIRCUIT}")
        expect(page.get_by_role("progressbar").first).to_be_visible(timeout=60_000)
        told = time.monotonic()
        app.process.send_signal(how)
        assert app.process.wait(60) == code
        took = time.monotonic() - told
        page.context.close()
        log = app.log()
    assert took < END_S
    assert "Traceback" not in log and "terminate called" not in log
