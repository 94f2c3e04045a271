"""Films the running app for the README: `python -m scripts.moving_picture`.

Starts the app on a free port and goes from all heads to one head, to other heads by the keyboard,
and to the steps behind a weight. Out: docs/images/tour.webp, an animated picture under a megabyte.
The app and the browser are ended after.
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
LONG_MS, SHORT_MS = 2200, 700
HEAD = {"layer": 3, "head": 1, "query": 10, "key": 2}
OTHER_HEADS = 4  # that the keyboard goes through
SCROLLS = 3  # down the steps


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
    go(page, url, "", {})
    yield Frame(picture(page), LONG_MS)
    go(page, url, "head", HEAD)
    yield Frame(picture(page), LONG_MS)
    heatmap = page.locator(".av-head-left canvas")
    heatmap.evaluate("(canvas) => canvas.focus({ preventScroll: true })")
    for _ in range(OTHER_HEADS):
        page.keyboard.press("]")
        yield Frame(picture(page), SHORT_MS)
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


def picture(page: Page) -> Image.Image:
    """The app as it is now, at the width of the animated picture."""
    page.wait_for_timeout(PAINT_MS)
    taken = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    height = round(taken.height * WIDTH / taken.width)
    return taken.resize((WIDTH, height), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main()
