"""Films the running app for the README: `python -m scripts.moving_picture`.

Starts the app on a free port and plays on its stage: a look that does not matter is forbidden, then
the one that decides. Then all heads of the encoder, and the steps behind a weight. Out:
docs/images/tour.webp, an animated picture under a megabyte. App and browser are ended after.
"""

import io
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Page

from scripts.screenshots import FOLDER, LONG, PAINT_MS
from tests.support.browser import chromium, settle
from tests.support.server import ROOT, serve

TARGET = FOLDER / "tour.webp"
VIEWPORT = {"width": 1460, "height": 900}
WIDTH = 960
QUALITY = 70
MAX_BYTES = 1_000_000
READY_MS = 240_000  # for a page, also on a busy machine
LONG_MS, MOVE_MS = 2200, 90
INTRO_MS = 4000  # until the arcs have grown
HEAD = {"layer": 3, "head": 1, "query": 10, "key": 2}
PILLS = (1, 0)  # of the stage's heads: the second looks as well, the first decides
MOVES = 6  # pictures while the bars move
SCROLLS = 2  # down the steps


class Frame(NamedTuple):
    """A picture of the app, and for how many milliseconds it is shown."""

    picture: Image.Image
    duration: int


def main() -> None:
    """Film, and write the animated picture; it fails rather than write one that is too large."""
    with serve() as url, chromium() as browser:
        context = browser.new_context(viewport=VIEWPORT, color_scheme="light", locale="en")
        context.set_default_timeout(READY_MS)
        frames = list(film(context.new_page(), url))
    content = io.BytesIO()
    first, *others = (frame.picture for frame in frames)
    first.save(
        content,
        "WEBP",
        save_all=True,
        append_images=others,
        duration=[frame.duration for frame in frames],
        loop=0,
        quality=QUALITY,
        method=6,
    )
    size = content.tell()
    assert size < MAX_BYTES, f"{size:,} bytes: fewer frames, or a lower quality"
    TARGET.write_bytes(content.getvalue())
    print(f"{TARGET.relative_to(ROOT)}: {len(frames)} pictures, {size / 1000:.0f} kB")


def film(page: Page, url: str) -> Iterator[Frame]:
    """The frames, one after another."""
    page.goto(f"{url}/?lang=en")
    page.locator(".stage-pill").first.wait_for()
    page.locator(".stage").dispatch_event("pointerdown")  # whoever does something is shown nothing
    page.wait_for_timeout(INTRO_MS)
    yield Frame(picture(page), LONG_MS)
    for number in PILLS:
        pill = page.locator(".stage-pill").nth(number)
        pill.click()
        for _ in range(MOVES):
            yield Frame(picture(page, pause_ms=0), MOVE_MS)
        yield Frame(picture(page), LONG_MS)
        if number != PILLS[-1]:
            pill.click()
    go(page, url, "look", HEAD)
    yield Frame(picture(page), LONG_MS)
    go(page, url, "steps", HEAD)
    yield Frame(picture(page), LONG_MS)
    for _ in range(SCROLLS):
        page.mouse.move(VIEWPORT["width"] * 0.7, VIEWPORT["height"] / 2)
        page.mouse.wheel(0, VIEWPORT["height"] * 0.45)
        yield Frame(picture(page), LONG_MS // 2)


def go(page: Page, url: str, name: str, place: dict[str, int]) -> None:
    """Open a page of the app on a head."""
    page.goto(f"{url}/{name}?{urlencode({'lang': 'en', 'text': LONG, **place})}")
    page.locator("canvas[data-drawn]:visible").first.wait_for()
    settle(page, canvases=False)


def picture(page: Page, pause_ms: int = PAINT_MS) -> Image.Image:
    """The app after a pause, at the width of the animated picture."""
    page.wait_for_timeout(pause_ms)
    taken = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    height = round(taken.height * WIDTH / taken.width)
    return taken.resize((WIDTH, height), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main()
