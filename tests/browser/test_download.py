"""A model that comes from a hub, a stand-in on this machine: how far it is can be read."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support import folders
from tests.support.hub import stand_in
from tests.support.seen import watch
from tests.support.server import serve
from tests.support.visit import address

NAME = "nobody/tiny"
FIRST_RUN_MS = 120_000  # a server of its own loads torch before it draws anything


@pytest.mark.slow
def test_bytes_are_counted_while_they_come(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("hub")
    folder: Path = folders.save(root / "bert", "bert")
    total = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    with stand_in(folder, NAME, hold=True) as hub:
        env = {"HF_ENDPOINT": hub.url, "HF_HOME": str(root / "home")}
        online = {"HF_HUB_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "0"}
        with serve(env=env | online) as url, browser.new_context(locale="en") as context:
            page = context.new_page()
            seen = watch(page, url)
            page.goto(address(url, "", {"model": NAME, "text": "the cat sat"}))
            bar = page.get_by_text(re.compile(rf"\d\.\d+ of {total:.3f} MB"))
            expect(bar).to_be_visible(timeout=FIRST_RUN_MS)
            hub.release.set()
            expect(bar).to_have_count(0)
            expect(page.locator(".av-grid canvas").first).to_be_visible()
            assert not seen.problems()
            assert hub.asked.count(f"GET /api/models/{NAME}") == 1  # not once more to load it
