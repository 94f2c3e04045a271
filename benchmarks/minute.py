"""The first minute: `python -m benchmarks.minute`.

Cold start: from starting the server to the film's first painted frame in a browser that waits.
Page change: from the click on a link of the bar to the first painted canvas of the next page,
on a server that has shown both. Film frame and drag frame: the main thread's time in the slowest
tenth of the animation frames of the film and of a dragged arrow, 16 tokens and less, and of the
film on Steps with 64 tokens, half as many frames a second. On a machine with other work all of them
are worse; the least of each is told beside.
`--rounds` says how often. Nothing may be asked of another host, and nothing said on the console.
"""

import argparse
import os
import sys
import time

from playwright.sync_api import Browser

import attnviz
from attnviz.i18n import text
from attnviz.pictures.shared.pages import Door
from benchmarks.measure import WRONG, Result, table
from benchmarks.texts import text_of
from tests.support.browser import chromium
from tests.support.server import serve
from tests.support.visit import Visit, open_visit

COLD_MS, CHANGE_MS, FRAME_MS, LONG_FRAME_MS = 8000.0, 400.0, 16.0, 33.0
LONG = 64  # tokens
ROUNDS, FRAMES = 3, 240
PAGES: tuple[Door, ...] = ("steps", "masks", "overview")  # begun on Overview
# every callback of an animation frame is timed, also those that paint nothing
WATCH = """() => {
    window.avFrames = [];
    const next = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (work) => next((now) => {
        const start = performance.now();
        work(now);
        avFrames.push(performance.now() - start);
    });
}"""


def main() -> int:
    """Measure and print; 1 if something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    with chromium() as browser:
        results = [cold(browser, rounds)]
        with serve() as url:
            results += [film_frames(browser, url), drag_frames(browser, url)]
            results.append(long_film_frames(browser, url))
            results.append(changes(browser, url, rounds))
    print(table(results))
    print(f"least: {', '.join(f'{result.name} {min(result.samples):.1f}' for result in results)}")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    return 1 if any(result.verdict == WRONG for result in results) else 0


def cold(browser: Browser, rounds: int) -> Result:
    """Milliseconds from starting the server to the film's first frame."""
    samples, wrong = [], None
    for _ in range(rounds):
        start = time.perf_counter()
        with serve() as url:
            visit = open_visit(browser, url, "")
            visit.page.locator("canvas[data-drawn]").first.wait_for()
            samples.append(1000 * (time.perf_counter() - start))
            wrong = wrong or problems(visit)
            visit.page.context.close()
    return Result("cold start: server → film's first frame", tuple(samples), "ms", COLD_MS, wrong)


def film_frames(browser: Browser, url: str) -> Result:
    """Milliseconds of the film's frames."""
    visit = open_visit(browser, url, "")
    visit.page.evaluate(WATCH)
    visit.page.wait_for_function(f"() => avFrames.length >= {FRAMES}", timeout=60_000)
    return frames(visit, "film frame")


def drag_frames(browser: Browser, url: str) -> Result:
    """Milliseconds of the frames while an arrow of Geometry is dragged."""
    visit = open_visit(browser, url, "geometry")
    visit.page.evaluate(WATCH)
    canvas = visit.page.locator(".av-geometry canvas").first
    box = canvas.bounding_box()
    assert box is not None
    mouse, middle = visit.page.mouse, (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    reach = box["width"] / 6  # the query (1.6, 0.6) of ±3
    mouse.move(middle[0] + 1.6 * reach, middle[1] - 0.6 * reach)
    mouse.down()
    for step in range(FRAMES):
        mouse.move(middle[0] + 1.6 * reach, middle[1] - 0.6 * reach - step % 40)
    mouse.up()
    visit.page.wait_for_function("() => avFrames.length >= 10", timeout=20_000)
    return frames(visit, "drag frame, Geometry")


def long_film_frames(browser: Browser, url: str) -> Result:
    """Milliseconds of the frames of the film on Steps, one row of a text of 64 tokens."""
    text = text_of(attnviz.load("minilm"), LONG)
    visit = open_visit(browser, url, "steps", text=text, query=LONG // 2)
    play = visit.page.locator(".play-bar").get_by_role("button", name="Play", exact=True)
    play.click()
    visit.page.evaluate(WATCH)
    visit.page.wait_for_function(f"() => avFrames.length >= {FRAMES}", timeout=60_000)
    return frames(visit, f"film frame, Steps, {LONG} tokens", LONG_FRAME_MS)


def frames(visit: Visit, name: str, most_ms: float = FRAME_MS) -> Result:
    """The slowest tenth of the frames that were seen; the page is closed."""
    every = sorted(float(sample) for sample in visit.page.evaluate("() => avFrames"))
    samples = tuple(every[-max(len(every) // 10, 1) :])
    wrong = problems(visit)
    visit.page.context.close()
    return Result(name, samples, "ms", most_ms, wrong)


def changes(browser: Browser, url: str, rounds: int) -> Result:
    """Milliseconds from a click in the bar to the next page's first canvas, all pages seen."""
    visit = open_visit(browser, url, "overview")
    samples = []
    for done in range(rounds + 1):  # the first round opens them
        for name in PAGES:
            start = time.perf_counter()
            visit.go(name)
            title = text("en", f"page.{name}.title")
            visit.page.get_by_role("heading", level=1, name=title).wait_for()
            visit.page.locator("[data-testid=stMain] canvas[data-drawn]").first.wait_for()
            if done:
                samples.append(1000 * (time.perf_counter() - start))
    wrong = problems(visit)
    visit.page.context.close()
    return Result("page change, warm", tuple(samples), "ms", CHANGE_MS, wrong)


def problems(visit: Visit) -> str | None:
    """What the console said, and requests to other hosts."""
    return "; ".join(visit.seen.problems()) or None


if __name__ == "__main__":
    sys.exit(main())
