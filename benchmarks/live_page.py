"""The live page in Chromium, from a folder of files: first paint, first picture, each key, memory.

`python -m benchmarks.live_page` writes the site into a temporary folder. Key → picture: from the
time stamp of a real key event to the end of the frame that shows its answer, painted and handed to
the compositor; the wait for that frame is up to 17 ms of it. Texts of 16 and 64 tokens. First
visits, with an empty cache, come from a server that sends 10 Mbit/s over all connections and lets
each connection and each request wait 50 ms; texts compressed, as web spaces send them, and not.
Answers are compared with torch by the page itself: a row is WRONG unless its badge says so. On a
machine that does other work, `chrt -r 1` keeps that work out of the figures.
"""

import argparse
import gzip
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, CDPSession, Page

import attnviz
from attnviz.live.model import live_model
from attnviz.live.site import write_site
from benchmarks.measure import Result, table
from benchmarks.texts import text_of
from tests.support.browser import chromium
from tests.support.static_site import SlowLine, served

LINE = {"bytes_per_second": 1.25e6, "round_trip_s": 0.05}
KEYS = {("stories", 16): 25, ("stories", 64): 35, ("minilm", 16): 45, ("minilm", 64): 90}
MEMORY_MB = {"stories": 50, "minilm": 200}
FIRST_PAINT_MS, FIRST_PICTURE_MS, CODE_KB = 800, 3000, 120
SLOW_FRAME_MS = 34
MARK = """() => {
    const view = document.getElementById("view");
    window.avFirst = null;
    window.avKeys = [];
    let key = null;
    addEventListener("keydown", (event) => (key ??= event.timeStamp), true);
    const { port1, port2 } = new MessageChannel();
    let since = null;
    port1.onmessage = () => { // the frame is painted: the task after it
        avFirst ??= performance.now();
        if (since !== null) avKeys.push(performance.now() - since);
        since = null;
    };
    new MutationObserver(() => {
        since ??= key;
        key = null;
        requestAnimationFrame(() => port2.postMessage(null));
    }).observe(view, { attributeFilter: ["data-shown"] });
}"""
FRAMES = """() => {
    window.avFrames = [];
    let before = performance.now();
    const frame = (now) => {
        avFrames.push(now - before);
        before = now;
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
}"""


def measure(browser: Browser, site: Path, rounds: int) -> list[Result]:
    """All rows."""
    code = [path for path in (site / "code").iterdir()] + [site / "index.html"]
    sizes = {path.name: len(gzip.compress(path.read_bytes())) / 1000 for path in code}
    later = sum(size for name, size in sizes.items() if name.startswith("views."))
    results = [
        Result("code of the first picture, gzip", (sum(sizes.values()) - later,), "kB", CODE_KB),
        Result("code of the other canvases, gzip", (later,), "kB"),
    ]
    for packs in (True, False):
        with served(site, packs=packs, line=SlowLine(**LINE)) as url:
            results += first_visit(browser, url, min(rounds, 5), "gzip" if packs else "no gzip")
    with served(site) as url:
        for name, n_tokens in KEYS:
            results += typed(browser, url, name, n_tokens, rounds)
    return results


def opened(browser: Browser, url: str) -> tuple[Page, CDPSession]:
    """A page that shows its first picture, in a browser that knows nothing of it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, service_workers="block")
    page = context.new_page()
    session = context.new_cdp_session(page)
    page.add_init_script(f"addEventListener('DOMContentLoaded', {MARK})")
    page.goto(url)
    page.locator("#badge[data-state=ok], #badge[data-state=coarse]").wait_for(timeout=120_000)
    return page, session


def first_visit(browser: Browser, url: str, rounds: int, how: str) -> list[Result]:
    """The first paint and the first picture of the model that opens, over a slow line."""
    paints, pictures = [], []
    for _ in range(rounds):
        page, _ = opened(browser, url)
        paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
        paints.append(page.evaluate(paint))
        pictures.append(page.evaluate("avFirst"))
        page.context.close()
    return [
        Result(f"first paint, 10 Mbit/s, {how}", tuple(paints), "ms", FIRST_PAINT_MS),
        Result(
            f"first picture of stories, 10 Mbit/s, {how}", tuple(pictures), "ms", FIRST_PICTURE_MS
        ),
    ]


def typed(browser: Browser, url: str, name: str, n_tokens: int, rounds: int) -> list[Result]:
    """Keys in a text of so many tokens: each to its picture, frames meanwhile, memory after."""
    lm = attnviz.load(name)
    page, session = opened(browser, f"{url}?view=overview&model={name}")
    text = text_of(lm, n_tokens - rounds // 4 - 2)
    page.locator("#text").fill(text)
    page.locator("#badge[data-state=ok]").wait_for(timeout=300_000)
    page.wait_for_timeout(1000)
    page.evaluate("avKeys.length = 0")
    type_behind(page, text, rounds)
    keys = page.evaluate("avKeys")
    page.evaluate(FRAMES)  # which makes every frame one that is drawn: not while keys are timed
    type_behind(page, text, rounds)
    frames = page.evaluate("avFrames")
    slow = 100 * sum(frame > SLOW_FRAME_MS for frame in frames) / len(frames)
    session.send("HeapProfiler.collectGarbage")
    heap = session.send("Runtime.getHeapUsage")["usedSize"] / 1e6
    state = page.locator("#badge").get_attribute("data-state")
    wrong = None if state == "ok" else f"the page compared itself with torch and says {state}"
    page.context.close()
    label = f"{name}, {n_tokens} tokens"
    return [
        Result(f"key → picture, {label}", tuple(keys), "ms", KEYS[name, n_tokens], wrong),
        Result(f"key → picture, {label}, least", (min(keys),), "ms"),
        Result(f"frames over {SLOW_FRAME_MS} ms, {label}", (slow,), "%", 1),
        Result(f"heap of the page, {label}", (heap,), "MB", MEMORY_MB[name]),
    ]


def type_behind(page: Page, text: str, rounds: int) -> None:
    """Keys one after the other, behind a text."""
    field = page.locator("#text")
    field.fill(text)
    page.wait_for_timeout(1500)
    field.focus()
    page.keyboard.press("Control+End")
    for place in range(rounds):
        page.keyboard.type(" " if place % 4 == 0 else "a", delay=170)
    page.wait_for_timeout(500)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; exit code 1 if a result is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=42)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        names = dict.fromkeys(name for name, _ in KEYS)
        write_site(folder, [live_model(name, languages=("en",)) for name in names], ("en",))
        results = measure(browser, Path(folder), options.rounds)
    print(table(results))
    return int(any(result.wrong for result in results))


if __name__ == "__main__":
    sys.exit(main())
