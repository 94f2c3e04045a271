"""The size and the speed of a saved page: `python -m benchmarks.take`.

Prints one table (name, median, budget, ok): the size of the page of MiniLM's 72 heads on 16 to 512
tokens with the steps of one head, the time to make it, and in Chromium, without a network, the
time from opening the file to painted pixels, from a click on the tab Head to its heatmap, all by
the page's own clock, and from a key to the drawn heatmap of the next head, which the screen shows
with its next frame. "CPU" is what the page's main thread computed until the first picture: the time
of the file alone, where other processes want the same cores. Each page must hold every weight,
paint, and ask for nothing but itself. Where BertViz or CircuitsVis is installed, the same heads as
their HTML stand below. `--rounds` says how many samples.
"""

import argparse
import importlib.util
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from playwright.sync_api import Browser, Page

import attnviz
from attnviz.files.saved_page import write_page
from attnviz.models.loaded_model import LoadedModel
from benchmarks import others
from benchmarks.measure import Result, report, timed
from benchmarks.texts import text_of
from tests.support.browser import chromium

BUDGETS_KB = {16: 400, 64: 1200, 128: 3500, 512: 14_000}
PAINTED_MS = {16: 250, 64: 250, 128: 400, 512: 800}
OPENED_MS = 150
SWITCH_MS = 25
COMPARED_TOKENS = 128
MADE_MS = {128: 300}  # CPU time
ROUNDS = 5
SWITCHES = 6  # heads that are gone through in each round
# The page's own clock: a look at each frame, and one more frame until the pixels are there.
LOOK = """
const place = (name) => document.querySelector(`[data-component=${name}]`)?.shadowRoot;
const CANVAS = "canvas[data-drawn][data-head], .av-grid canvas[data-drawn]";
const drawn = (name) => place(name)?.querySelector(CANVAS);
const until = (act, isDone) => new Promise((done) => {
  const start = performance.now();
  act();
  const look = () => isDone()
    ? requestAnimationFrame(() => done(performance.now() - start))
    : requestAnimationFrame(look);
  requestAnimationFrame(look);
});
"""
WATCH = f"{LOOK} window.gridAt = until(() => 0, () => drawn('grid')).then(() => performance.now());"
TOOLS = f"""{LOOK}
const tab = () => document.querySelector(".tabs [data-view=head]");
const next = () => drawn("head").dispatchEvent(
  new KeyboardEvent("keydown", {{ key: "]", bubbles: true, composed: true }}));
const switched = () => new Promise((done) => {{
  const start = performance.now();
  new MutationObserver((_, observer) => {{
    observer.disconnect();
    done(performance.now() - start);
  }}).observe(drawn("head"), {{ attributeFilter: ["data-head"] }});
  next();
}});
"""


class Opened(NamedTuple):
    """Milliseconds of one opening of a page, and what is wrong with it."""

    painted: float
    cpu: float
    head: float
    switch: float
    problem: str | None


def measure(model: LoadedModel, browser: Browser, rounds: int) -> list[Result]:
    """The rows for each length of text."""
    with tempfile.TemporaryDirectory() as folder:
        ours = [
            row
            for n_tokens in BUDGETS_KB
            for row in _of_length(model, browser, Path(folder), n_tokens, rounds)
        ]
    return ours + _of_others(model, rounds)


def _of_others(model: LoadedModel, rounds: int) -> list[Result]:
    """The same heads as BertViz and CircuitsVis write them, where these are installed."""
    present = [name for name in others.MAKERS if importlib.util.find_spec(name)]
    if not present:
        return []
    cap = attnviz.capture(model, text_of(model, COMPARED_TOKENS))
    labels, weights = list(cap.tokens.labels), cap.all_weights()
    return [row for name in present for row in others.of_tool(name, labels, weights, rounds)]


def _of_length(
    model: LoadedModel, browser: Browser, folder: Path, n_tokens: int, rounds: int
) -> list[Result]:
    cap = attnviz.capture(model, text_of(model, n_tokens))
    path = folder / f"{n_tokens}.html"
    write_page(cap, path)  # modules are read and joined once
    made = tuple(timed(lambda: write_page(cap, path), time.process_time) for _ in range(rounds))
    size = path.stat().st_size / 1000
    opened = [_opened(browser, path) for _ in range(rounds)]
    wrong = next((sample.problem for sample in opened if sample.problem), None)
    name = f"page of 72 heads, n={n_tokens}"
    return [
        Result(f"{name}: size", (size,), "kB", BUDGETS_KB[n_tokens], wrong),
        Result(f"{name}: made", made, "ms", MADE_MS.get(n_tokens), wrong),
        *(
            Result(
                f"{name}: {what}",
                tuple(getattr(sample, field) for sample in opened),
                "ms",
                budget,
                wrong,
            )
            for what, field, budget in (
                ("painted", "painted", PAINTED_MS[n_tokens]),
                ("painted, CPU", "cpu", PAINTED_MS[n_tokens]),
                ("Head opened", "head", OPENED_MS),
                ("head switch", "switch", SWITCH_MS),
            )
        ),
    ]


def _opened(browser: Browser, path: Path) -> Opened:
    """A page opened, then the tab Head, then some heads."""
    context = browser.new_context(offline=True, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    clock = context.new_cdp_session(page)
    clock.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.add_init_script(WATCH)
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.as_uri(), wait_until="commit")
    painted = _ms(page, "gridAt")
    measured = clock.send("Performance.getMetrics")["metrics"]
    [cpu] = [1000 * entry["value"] for entry in measured if entry["name"] == "TaskDuration"]
    page.wait_for_selector("#view[data-complete]")
    opened = _ms(page, "until(() => tab().click(), () => drawn('head'))")
    switch = statistics.median(_ms(page, "switched()") for _ in range(SWITCHES))
    context.close()
    problem = f"{len(asked)} requests, console {said}" if len(asked) != 1 or said else None
    return Opened(painted, cpu, opened, switch, problem)


def _ms(page: Page, expression: str) -> float:
    """A time that the page itself has measured."""
    milliseconds: float = page.evaluate(f"(async () => {{ {TOOLS} return await {expression}; }})()")
    return milliseconds


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether all results were right."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.take", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default: {ROUNDS}")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)  # CPU time of several threads would count their waiting
    with chromium() as browser:
        results = measure(attnviz.load("minilm"), browser, options.rounds)
    return report(results, in_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
