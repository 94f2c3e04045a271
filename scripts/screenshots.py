"""Takes the pictures of the documents from the running app: `make screenshots`.

Starts the app on a free port and opens every page with one sentence, in a browser of a fixed size.
Out: docs/images/<page>.png, and overview-dark.png; only the pictures that are named on the command
line, if any are. "preview" is the picture for previews of links, attnviz/app/host/preview.png: the
stage with the decisive look forbidden. The app and the browser are ended after.
"""

import sys
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser

from attnviz.app.host import script
from attnviz.app.host.first_paint import PREVIEW_SIZE
from tests.support.browser import chromium, settle
from tests.support.server import ROOT, serve

FOLDER = ROOT / "docs" / "images"
LONG = "The animal didn't cross the street because it was too tired."
SHORT = "The cat sat on the mat."
OTHER = "The dog sat quietly on the mat."
STORE = "When Mary and John went to the store, John gave a book to"
REPEATED = "Tom garden ball river Anna bread Tom garden ball river Anna bread"
ENGLISH = "The little white cat sees a green apple."
VIEWPORT = (1280, 860)
PAINT_MS = 400  # the last fonts and transitions
FILM_MS = 17_000  # until the film of the start page shows its one head

ONLY_THE_STAGE = "<style>.stage-own, .stage-foot, .stage-tried { display: none !important }</style>"
WITHOUT_BAR = """
    .st-key-attnviz-widget-bar { display: none; }
    [data-testid=stMainBlockContainer] { padding-top: 90px !important; }
    [class*=component-gallery] { visibility: hidden; }
"""

# name → path, colour scheme, and what stands in the address
PICTURES: dict[str, tuple[str, str, dict[str, str | int]]] = {
    "overview": ("overview", "light", {"text": LONG, "layer": 3, "head": 1}),
    "overview-dark": ("overview", "dark", {"text": LONG, "layer": 3, "head": 1}),
    "head": ("head", "light", {"text": LONG, "layer": 3, "head": 1, "query": 10, "key": 2}),
    "start": ("", "light", {}),
    "switches": (
        "switches",
        "light",
        {"model": "stories", "text": STORE, "changes": "L0.H0.mixed=zero", "to": "zero"},
    ),
    "circuit": ("circuit", "light", {"model": "stories", "text": REPEATED}),
    "map": ("map", "light", {"text": LONG, "layer": 3, "head": 1, "query": 10, "key": 2}),
    "steps": ("steps", "light", {"text": SHORT, "layer": 0, "head": 2, "query": 3, "key": 2}),
    "masks": ("masks", "light", {"text": LONG, "text2": SHORT, "layer": 3, "head": 1}),
    "compare": (
        "compare",
        "light",
        {"text": SHORT, "text_b": OTHER, "layer": 0, "head": 2, "query": 3, "key": 2},
    ),
    "output": ("output", "light", {"model": "translator", "text": ENGLISH}),
    "learn": (
        "learn",
        "light",
        {
            "lesson": "errata",
            "card": "erratum",
            "answers": "axis=1.658&divisor=3&erratum=1.0",
        },
    ),
}
TALLER = {
    "compare": 1330,
    "start": 1250,
    "head": 1050,
    "masks": 1250,
    "steps": 1400,
    "output": 1250,
}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = sys.argv[1:] or [*PICTURES, "preview"]
    with serve() as url, chromium() as browser:
        if "preview" in wanted:
            wanted.remove("preview")
            take_preview(browser, url)
        for name in wanted:
            page, scheme, values = PICTURES[name]
            address = f"{url}/{page}?{urlencode({'lang': 'en', **values})}"
            target = FOLDER / f"{name}.png"
            take(browser, address, scheme, target, TALLER.get(name, VIEWPORT[1]))
            print(f"{target.relative_to(ROOT)}: {target.stat().st_size / 1024:.0f} KiB")


def take(browser: Browser, address: str, scheme: str, target: Path, height: int) -> None:
    """One picture of one address."""
    context = browser.new_context(
        viewport={"width": VIEWPORT[0], "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        locale="en",
    )
    page = context.new_page()
    page.goto(address)
    page.locator("canvas[data-drawn]:visible, .av-board td, svg [data-head]").first.wait_for()
    settle(page, canvases=False)
    page.wait_for_timeout(FILM_MS if target.stem == "start" else PAINT_MS)
    page.screenshot(path=target)
    context.close()


def take_preview(browser: Browser, url: str) -> None:
    """The stage alone, with the decisive look forbidden."""
    width, height = PREVIEW_SIZE
    context = browser.new_context(
        viewport={"width": width, "height": height}, reduced_motion="reduce", locale="en"
    )
    page = context.new_page()
    page.goto(f"{url}/?lang=en")
    page.locator(".stage-pill").first.click()
    stage = page.locator(".stage")
    stage.evaluate("(stage, css) => stage.insertAdjacentHTML('beforeend', css)", ONLY_THE_STAGE)
    page.add_style_tag(content=WITHOUT_BAR)
    page.mouse.move(0, 0)
    page.wait_for_timeout(PAINT_MS)
    page.screenshot(path=script.PREVIEW)
    context.close()


if __name__ == "__main__":
    main()
