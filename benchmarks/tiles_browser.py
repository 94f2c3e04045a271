"""What a visitor waits for on a long text: jumps to a place without tiles, and moves among tiles.

From the time stamp of a real pointer or key event to the animation frame after the one in which the
plot was painted with all its tiles. A jump is a click on the small map at one zoom; a pan is an
arrow key where all tiles are there. The text is uploaded as a visitor uploads one.
"""

import itertools
import random
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Locator
from torch import nn

import attnviz
from attnviz import tiles
from attnviz.app.server.sources import VARIABLE
from benchmarks.measure import Result
from tests.support.browser import chromium
from tests.support.folders import WORDS, tokenizer
from tests.support.server import serve
from tests.support.visit import Visit, data, open_visit

JUMP_MS, PAN_MS = 400.0, 50.0
LEVELS = (3, 2, 1, 0)
LIMIT_MS = 180_000
# time stamp of the event → the frame after the one that painted the plot with nothing missing
ON_EVENT = """([plot, kind]) => {
    window.avTimes = [];
    addEventListener(kind, (event) => {
        const observer = new MutationObserver(() => {
            if (plot.dataset.missing !== "0") return;
            observer.disconnect();
            requestAnimationFrame(() => avTimes.push(performance.now() - event.timeStamp));
        });
        observer.observe(plot, { attributeFilter: ["data-drawn"] });
    }, { capture: true, once: true });
}"""


def measure(model: nn.Module, length: int, rounds: int) -> list[Result]:
    """The rows of this part."""
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        folder = Path(name)
        model.save_pretrained(folder / "model")
        tokenizer("decoder", length).save_pretrained(folder / "model")
        words = random.Random(0).choices(WORDS[6:], k=length)
        (folder / "text.txt").write_text(" ".join(words), encoding="utf-8")
        with serve(env={VARIABLE: name}) as url:
            return _measured(browser, url, folder, length, rounds)


def _measured(browser: Browser, url: str, folder: Path, length: int, rounds: int) -> list[Result]:
    opened = open_visit(browser, url, "head", model=folder / "model", text="the cat")
    plot = opened.page.locator("canvas.av-tiles-plot")
    opened.open_menu("menu.model")
    opened.page.get_by_text("Long text from a file").click()
    start = time.perf_counter()
    opened.page.locator("input[type=file]").set_input_files(folder / "text.txt")
    wait_for_tiles(opened, plot)
    waited = time.perf_counter() - start
    results = [Result(f"n={length}: upload → capture, verification, whole head", (waited,), "s")]
    wrong = wrong_cells(opened, folder)
    for level in LEVELS:
        zoom_to(opened, plot, level)
        results.append(jumps(opened, plot, level, length, rounds, wrong))
        results.append(pans(opened, plot, level, length, rounds))
    opened.page.context.close()
    return results


def wait_for_tiles(opened: Visit, plot: Locator) -> None:
    plot.and_(opened.page.locator("[data-ready='1'][data-missing='0']")).wait_for(timeout=LIMIT_MS)


def wrong_cells(opened: Visit, folder: Path) -> str | None:
    """The list of strongest cells on the page against the library's."""
    lm = attnviz.load(str(folder / "model"))
    text = (folder / "text.txt").read_text(encoding="utf-8")
    pyramid = tiles.build(attnviz.capture(lm, text).call(0), 0)
    shown = opened.page.locator(".av-cells-cell").evaluate_all(
        "(cells) => cells.map(({ dataset: d }) => [+d.query, +d.key, +d.weight])"
    )
    if not shown:
        return "the page lists no cells"
    off = max(abs(pyramid.exact(int(q), int(k)) - weight) for q, k, weight in shown)
    return None if off <= 1e-5 else f"weights on the page are off by {off:.1e}"


def zoom_to(opened: Visit, plot: Locator, level: int) -> None:
    """Nearer by the keyboard until the plot shows this level."""
    plot.focus()
    while int(data(plot)["level"]) > level:
        before = data(plot)["drawn"]
        opened.page.keyboard.press("+")
        plot.and_(opened.page.locator(f"canvas:not([data-drawn='{before}'])")).wait_for()
        wait_for_tiles(opened, plot)


def jumps(
    opened: Visit, plot: Locator, level: int, length: int, rounds: int, wrong: str | None
) -> Result:
    """Clicks on the map, each time far from where it was."""
    small = opened.page.locator("canvas.av-tiles-map")
    small.scroll_into_view_if_needed()
    box = small.bounding_box()
    assert box is not None
    places = spread(rounds + level)[:rounds]
    samples = timed_events(
        opened,
        plot,
        "pointerdown",
        [lambda at=at: opened.page.mouse.click(*at) for at in on_map(box, places)],  # type: ignore[misc]
    )
    return Result(
        f"n={length}: jump at level {level}, no tile there", samples, "ms", JUMP_MS, wrong
    )


def on_map(box: dict[str, float], places: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in places]


def spread(count: int) -> list[tuple[float, float]]:
    """Places below the diagonal, (key, query) as fractions, no two of them near each other."""
    grid = itertools.product(np.linspace(0.04, 0.9, 7), np.linspace(0.1, 0.95, 7))
    places = [(float(x), float(y)) for x, y in grid if x < y - 0.04]
    return random.Random(count).sample(places, count)


def pans(opened: Visit, plot: Locator, level: int, length: int, rounds: int) -> Result:
    """To and fro by the arrow keys, after both places were seen once."""
    keys = ["ArrowUp", "ArrowDown"]
    plot.focus()
    for key in keys:
        opened.page.keyboard.press(key)
        opened.page.wait_for_timeout(300)
        wait_for_tiles(opened, plot)
    presses = itertools.islice(itertools.cycle(keys), rounds)
    samples = timed_events(
        opened,
        plot,
        "keydown",
        [lambda key=key: opened.page.keyboard.press(key) for key in presses],  # type: ignore[misc]
    )
    return Result(f"n={length}: pan at level {level}, tiles there", samples, "ms", PAN_MS)


def timed_events(
    opened: Visit, plot: Locator, kind: str, events: list[object]
) -> tuple[float, ...]:
    """Milliseconds of each event, one after the other."""
    samples: list[float] = []
    for event in events:
        opened.page.evaluate(ON_EVENT, [plot.element_handle(), kind])
        event()  # type: ignore[operator]
        opened.page.wait_for_function("() => window.avTimes.length > 0")
        samples.append(float(opened.page.evaluate("() => window.avTimes[0]")))
    return tuple(samples)
