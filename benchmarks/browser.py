"""What a visitor waits for, measured inside the page and checked against the library.

Head switch: from the time stamp of a real key event to the animation frame after the one in which
the canvas was painted, that is until the new pixels were handed over; one to two frames (16 to
33 ms at 60 Hz) are the floor of this measure. Meanwhile no message may go to the server.
New text: from the key that applies the text to the same point for the grid of the new tokens.
Cold start: from starting `python -m streamlit run` to the first painted grid in a waiting browser.
"""

import math
import time
from collections.abc import Callable

import numpy as np
from playwright.sync_api import Browser

import attnviz
from attnviz.models.loaded_model import LoadedModel
from benchmarks.measure import Result
from benchmarks.texts import text_of
from tests.support.browser import chromium
from tests.support.canvas import Palette, load_palettes, matrix_colours, pixels, plot
from tests.support.server import serve
from tests.support.visit import Visit, open_visit

SWITCH_MS = 60.0
NEW_TEXT_MS = 300.0
COLD_START_MS = 8000.0
SIZES = (128, 510)
TEXT_SIZES = {16: 250.0, 128: NEW_TEXT_MS}  # tokens, and the budget
N_PROBES = 300
FRAME_PX = 5.0
COLD_ROUNDS = 3
PREVIEW = "Attention weights of"

# time stamp of the event → the frame after the one that painted the canvas; events of the kind that
# was timed before are timed no more
ON_EVENT = """(canvas, kind) => {
    window.avForget?.();
    window.avTimes = [];
    const timed = (event) => {
        new MutationObserver((_, observer) => {
            observer.disconnect();
            requestAnimationFrame((now) => avTimes.push(performance.now() - event.timeStamp));
        }).observe(canvas, { attributeFilter: ["data-drawn"] });
    };
    addEventListener(kind, timed, true);
    window.avForget = () => removeEventListener(kind, timed, true);
}"""
# as above, until the chips of the new tokens stand there and the grid's canvas is painted
ON_TEXT = """(labels) => {
    window.avTimes = [];
    delete window.avWhole;
    const all = (root, css) => [...root.querySelectorAll("*")].flatMap((node) => [
        ...(node.matches(css) ? [node] : []),
        ...(node.shadowRoot ? all(node.shadowRoot, css) : [])]);
    const wanted = JSON.stringify(labels);
    addEventListener("keydown", function timed(event) {
        if (event.key !== "Enter") return;
        removeEventListener("keydown", timed, true);
        const look = () => {
            const chips = all(document, ".av-grid .av-chip").map((chip) => chip.textContent);
            const isNew = JSON.stringify(chips) === wanted;
            const drawn = isNew && all(document, "canvas[data-drawn]").length > 1;
            requestAnimationFrame(
                drawn ? () => {
                    avTimes.push(performance.now() - event.timeStamp);
                    whole();
                } : look);
        };
        const whole = () => {
            const [board] = all(document, ".av-grid-left canvas[data-weights='all']");
            if (board) window.avWhole = performance.now() - event.timeStamp;
            else requestAnimationFrame(whole);
        };
        look();
    }, true);
}"""


def measure(model: LoadedModel, rounds: int) -> list[Result]:
    """The rows of this part."""
    with chromium() as browser:
        palette = load_palettes(browser)["light"]
        results = [cold_start(browser, min(rounds, COLD_ROUNDS))]
        with serve() as url:
            open_visit(browser, url).page.context.close()  # the server loads the model
            for n_tokens in SIZES:
                text = text_of(model, n_tokens)
                for path in ("overview", "head"):
                    visit = open_visit(browser, url, path, text=text, layer=0, head=0)
                    results.append(head_switch(visit, model, text, palette, rounds))
                    visit.page.context.close()
            for n_tokens, budget in TEXT_SIZES.items():
                visit = open_visit(browser, url, "overview", layer=0, head=0)
                results.append(new_text(visit, model, n_tokens, palette, rounds, budget))
                visit.page.context.close()
    return results


def cold_start(browser: Browser, rounds: int) -> Result:
    """Server, imports, model, first capture, first grid."""
    samples, wrong = [], None
    for _ in range(rounds):
        start = time.perf_counter()
        with serve() as url:
            visit = open_visit(browser, url, "overview")
            samples.append(1000 * (time.perf_counter() - start))
            wrong = wrong or "; ".join(visit.seen.problems()) or None
            visit.page.context.close()
    name = "cold start: streamlit run → first grid"
    return Result(name, tuple(samples), "ms", COLD_START_MS, wrong)


def head_switch(
    visit: Visit,
    model: LoadedModel,
    text: str,
    palette: Palette,
    rounds: int,
    budget: float = SWITCH_MS,
) -> Result:
    """Key events that go from head to head; after each the pixels are compared."""
    weights = attnviz.capture(model, text).all_weights()
    overview = "open=1" not in visit.page.url
    canvas = visit.canvas(PREVIEW)
    cells = visit.page.locator(".av-picker-cell[tabindex='0']")
    (cells if overview else canvas).focus()
    canvas.evaluate(ON_EVENT, "keydown")
    before, wrong, head, step = len(visit.seen.sent), None, 0, 1
    for done in range(rounds):
        step = -1 if head == weights.shape[1] - 1 else 1 if head == 0 else step
        head += step
        keys = ("ArrowRight", "ArrowLeft") if overview else ("]", "[")
        visit.page.keyboard.press(keys[step < 0])
        visit.page.wait_for_function("(count) => avTimes.length > count", arg=done)
        wrong = wrong or wrong_head(visit, weights[0, head], head, palette)
    if len(visit.seen.sent) != before:
        wrong = f"{len(visit.seen.sent) - before} messages went to the server"
    name = f"head switch on {'Overview' if overview else 'Head'}, n={weights.shape[-1]}"
    return Result(name, times(visit), "ms", budget, wrong)


def wrong_head(visit: Visit, weights: np.ndarray, head: int, palette: Palette) -> str | None:
    """What is wrong with the picture of a head; the frame of the chosen row hides cells."""
    canvas = visit.canvas(PREVIEW)
    if canvas.get_attribute("data-head") != str(head):
        return f"head {head} was asked for, {canvas.get_attribute('data-head')} is shown"
    points, expected = matrix_colours(canvas, weights, palette)
    row, (_, top, _, height) = canvas.get_attribute("data-query"), plot(canvas)
    cell = height / len(weights)
    framed = top + (float(row) + 0.5) * cell if row else -math.inf
    free = [i for i, (_, y) in enumerate(points) if abs(y - framed) > cell + FRAME_PX]
    chosen = np.random.default_rng(head).choice(free, N_PROBES)
    shown = pixels(canvas, [points[i] for i in chosen])
    off = sum(colour not in expected[i] for i, colour in zip(chosen, shown, strict=True))
    return f"{off} of {N_PROBES} pixels of head {head} have a wrong colour" if off else None


def new_text(
    visit: Visit,
    model: LoadedModel,
    n_tokens: int,
    palette: Palette,
    rounds: int,
    budget: float = NEW_TEXT_MS,
    write: Callable[[LoadedModel, int, int], str] = text_of,
) -> Result:
    """Texts that the server has not seen; the model is loaded."""
    samples, wrong = [], None
    box = visit.page.get_by_role("textbox", name="Text", exact=True)
    for done in range(rounds):
        text = write(model, n_tokens, done + 1)
        capture = attnviz.capture(model, text)
        box.fill(text)
        visit.page.evaluate(ON_TEXT, list(capture.tokens.labels))
        box.press("Enter")
        visit.page.wait_for_function("() => avTimes.length > 0")
        samples += times(visit)
        wrong = wrong or wrong_head(visit, capture.weights(0, 0), 0, palette)
    return Result(f"new text → grid, n={n_tokens}", tuple(samples), "ms", budget, wrong)


def times(visit: Visit) -> tuple[float, ...]:
    """What the page has measured."""
    found: list[float] = visit.page.evaluate("avTimes")
    return tuple(found)
