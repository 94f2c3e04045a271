"""From a click on a head of the page Switches to the new bars: `python -m benchmarks.switches`.

For every embedded model heads are switched in Chromium so that each click makes a set of heads that
the server has never seen (a Gray code): from the time stamp of the click to the frame after the one
that has the new answer (goal 250 ms). Beside it stands the processor time that the server spends on
a click, which hardly depends on what else the machine does. The likeliest choice of the last click
is compared with the library (stories), elsewhere the heads that are named: a wrong one ends with
code 1, a slow click is marked.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Browser, expect

import attnviz
from attnviz.changes import ablate
from attnviz.models.registry import REGISTRY
from benchmarks.measure import Result, report
from tests.support.browser import IDLE, chromium
from tests.support.server import serve

ROUNDS = 8
CLICK_MS = 250.0
NAMED = 3  # more heads than these are counted in the answer's sentence
PATIENCE_MS = 240_000
STORE = "When Mary and John went to the store, John gave a book to"
TICKS_PER_S = os.sysconf("SC_CLK_TCK")

# time stamp of the click → the frame after the answer said something else
ON_CLICK = """(answer) => {
    window.avTimes = [];
    addEventListener("click", (event) => {
        const before = answer.textContent;
        new MutationObserver((_, observer) => {
            if (answer.textContent === before) return;
            observer.disconnect();
            requestAnimationFrame(() => avTimes.push(performance.now() - event.timeStamp));
        }).observe(answer, { childList: true });
    }, true);
}"""


def server_ms() -> float:
    """Milliseconds of processor time of the app's server, which this process started."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            is_server = b"streamlit" in (folder / "cmdline").read_bytes()
        except OSError:  # it has ended
            continue
        if is_server and int(fields[1]) == os.getpid():
            total += int(fields[11]) + int(fields[12])
    return 1000 * total / TICKS_PER_S


def gray(n_heads: int, n: int) -> Iterator[int]:
    """The heads to click so that every click makes another set: bits of a Gray code."""
    for count in range(1, min(n, 2**n_heads - 1) + 1):
        yield (count & -count).bit_length() - 1


def clicks(browser: Browser, url: str, model: str, rounds: int) -> Iterator[Result]:
    """Two rows of one model: what a visitor waits, and what the server computes."""
    view = {"model": model, "changes": "none"} | ({"text": STORE} if model == "stories" else {})
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{url}/switches?{urlencode(view)}")
    heads = page.locator(".av-switches [data-head]")
    answer = page.locator(".av-switches-answer")
    answer.locator(".av-bar").first.wait_for()
    page.wait_for_selector(IDLE)  # all effects are measured, the board stays
    names = [head.get_attribute("data-head") or "" for head in heads.all()]
    order = gray(len(names), rounds + 1)
    heads.nth(next(order)).click()  # the first click of a model is no measure of the next
    expect(answer.locator(".av-sentence")).to_contain_text(names[0], timeout=PATIENCE_MS)
    off, done = {names[0]}, 0
    answer.evaluate(ON_CLICK)
    before = server_ms()
    for done, at in enumerate(order, 1):
        off ^= {names[at]}
        heads.nth(at).click()
        page.wait_for_function("(done) => avTimes.length >= done", arg=done)
    spent = (server_ms() - before) / done
    wrong = _wrong(model, sorted(off), answer.inner_text())
    times = page.evaluate("avTimes")
    page.close()
    yield Result(f"{model}: click → new bars, median", tuple(times), "ms", CLICK_MS, wrong)
    yield Result(f"{model}: click → new bars, least", (min(times),), "ms", CLICK_MS)
    yield Result(f"{model}: the server's work for a click", (spent,), "ms")


def _wrong(model: str, off: Sequence[str], shown: str) -> str | None:
    """A complaint if the likeliest choice without these heads does not have its percentage."""
    if model != "stories":
        missing = [name for name in off if name not in shown] if len(off) <= NAMED else []
        return f"the answer does not speak of {missing[0]}" if missing else None
    run = attnviz.experiment(model, STORE)
    after = run.with_changes(*(ablate(head) for head in off), draws=0).choices.after
    percent = f"{100 * float(np.max(after)):.1f}"
    return None if percent in shown else f"{percent} % without {off} is not shown"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether all results were right."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.switches", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--model", choices=tuple(REGISTRY), action="append", help="default: all")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    with chromium() as browser, serve() as url:
        models = options.model or REGISTRY
        results = [row for model in models for row in clicks(browser, url, model, options.rounds)]
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
