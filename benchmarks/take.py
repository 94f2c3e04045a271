"""The size and the speed of a saved page: `python -m benchmarks.take`.

Prints one table (name, median, budget, ok): the size of the page of MiniLM's 72 heads on 16 to 512
tokens with the steps of one head, the time to make it, and in Chromium, without a network, the
time from opening the file to painted pixels and from a click to another head's heatmap. Each page
must hold every weight, paint, and ask for nothing but itself. `--rounds` says how many samples.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, Page

import attnviz
from attnviz.export.page import write_page
from attnviz.models.loaded import LoadedModel
from benchmarks.measure import WRONG, Result, as_json, table, timed
from benchmarks.texts import text_of
from tests.support.browser import chromium

BUDGETS_KB = {16: 400, 64: 1200, 128: 3500, 512: 14_000}
PAINTED_MS = {16: 250, 64: 250, 128: 400, 512: 800}
HEAD_MS = 150
MADE_MS = {128: 300}  # CPU time
ROUNDS = 5


def measure(model: LoadedModel, browser: Browser, rounds: int) -> list[Result]:
    """The rows for each length of text."""
    with tempfile.TemporaryDirectory() as folder:
        return [
            row
            for n_tokens in BUDGETS_KB
            for row in _of_length(model, browser, Path(folder), n_tokens, rounds)
        ]


def _of_length(
    model: LoadedModel, browser: Browser, folder: Path, n_tokens: int, rounds: int
) -> list[Result]:
    cap = attnviz.capture(model, text_of(model, n_tokens))
    path = folder / f"{n_tokens}.html"
    write_page(cap, path)  # modules are read and joined once
    made = tuple(timed(lambda: write_page(cap, path), time.process_time) for _ in range(rounds))
    size = path.stat().st_size / 1000
    opened = [_opened(browser, path) for _ in range(rounds)]
    wrong = next((problem for *_, problem in opened if problem), None)
    name = f"page of 72 heads, n={n_tokens}"
    return [
        Result(f"{name}: size", (size,), "kB", BUDGETS_KB[n_tokens], wrong),
        Result(f"{name}: made", made, "ms", MADE_MS.get(n_tokens), wrong),
        Result(f"{name}: painted", tuple(o[0] for o in opened), "ms", PAINTED_MS[n_tokens], wrong),
        Result(f"{name}: Head opened", tuple(o[1] for o in opened), "ms", HEAD_MS, wrong),
    ]


def _opened(browser: Browser, path: Path) -> tuple[float, float, str | None]:
    """Milliseconds to the first picture and to that of Head, and what is wrong if anything."""
    context = browser.new_context(offline=True, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.as_uri(), wait_until="commit")
    painted = _until_drawn(page, "grid")
    page.wait_for_selector("#view[data-complete]")
    start = page.evaluate("performance.now()")
    page.locator(".tabs [data-view=head]").click()
    opened = _until_drawn(page, "head") - start
    context.close()
    problem = f"{len(asked)} requests, console {said}" if len(asked) != 1 or said else None
    return painted, opened, problem


def _until_drawn(page: Page, component: str) -> float:
    """The page's own time at which a canvas of the component was painted, in milliseconds."""
    canvas = page.locator(f"[data-component={component}] canvas[data-drawn]").first
    canvas.wait_for(state="visible")
    now: float = page.evaluate("new Promise((done) => requestAnimationFrame(done))")
    return now


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether all results were right."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.take", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default: {ROUNDS}")
    options = parser.parse_args(arguments)
    with chromium() as browser:
        results = measure(attnviz.load("minilm"), browser, options.rounds)
    print(as_json(results) if options.json else table(results))
    return 1 if any(result.verdict == WRONG for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
