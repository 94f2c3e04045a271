"""Takes the pictures of the documents from the running app: `make screenshots`.

Starts the app on a free port and opens every page with one sentence, in a browser of a fixed size.
Out: docs/images/<page>.png, and overview-dark.png. The app and the browser are ended after.
"""

from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser

from tests.support.browser import chromium, settle
from tests.support.server import ROOT, serve

FOLDER = ROOT / "docs" / "images"
LONG = "The animal didn't cross the street because it was too tired."
SHORT = "The cat sat on the mat."
VIEWPORT = (1280, 860)
PAINT_MS = 400  # the last fonts and transitions

# name → path, colour scheme, and what stands in the address
PICTURES: dict[str, tuple[str, str, dict[str, str | int]]] = {
    "overview": ("", "light", {"text": LONG, "layer": 5, "head": 11}),
    "overview-dark": ("", "dark", {"text": LONG, "layer": 5, "head": 11}),
    "head": ("head", "light", {"text": LONG, "layer": 5, "head": 11, "query": 10, "key": 2}),
    "steps": ("steps", "light", {"text": SHORT, "layer": 0, "head": 2, "query": 3, "key": 2}),
    "masks": ("masks", "light", {"text": LONG, "text2": SHORT, "layer": 5, "head": 11}),
}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with serve() as url, chromium() as browser:
        for name, (page, scheme, values) in PICTURES.items():
            address = f"{url}/{page}?{urlencode({'lang': 'en', **values})}"
            target = FOLDER / f"{name}.png"
            take(browser, address, scheme, target)
            print(f"{target.relative_to(ROOT)}: {target.stat().st_size / 1024:.0f} KiB")


def take(browser: Browser, address: str, scheme: str, target: Path) -> None:
    """One picture of one address."""
    width, height = VIEWPORT
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        locale="en",
    )
    page = context.new_page()
    page.goto(address)
    settle(page)
    page.wait_for_timeout(PAINT_MS)
    page.screenshot(path=target)
    context.close()


if __name__ == "__main__":
    main()
