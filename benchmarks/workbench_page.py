"""What a visitor waits for on the pages of the workbench, on a model of 12 × 12 heads.

Each figure runs from the time stamp of a real pointer or key event to the animation frame after the
one that painted the canvas, as in `benchmarks.browser`, whose stopwatch and checks it shares. What
is on show then is compared with the library: pixels of a head, printed weights, edited numbers,
masked softmax. While heads and cells change, no message may go to the server; of a mask it hears
once things are quiet, because the page says what the mask does to the model's answer, and the
picture does not wait for it.
"""

import math
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Locator

import attnviz
from attnviz.app.server.sources import VARIABLE
from attnviz.attention.edits import parse
from attnviz.metrics.measures import measured
from attnviz.models.loaded_model import LoadedModel
from benchmarks.browser import ON_EVENT, PREVIEW, head_switch, new_text, times, wrong_head
from benchmarks.measure import Result
from benchmarks.workbench_models import HEADS, LAYERS, LONG, save_deep, save_long, words_of
from tests.support.browser import chromium
from tests.support.canvas import Palette, cell_middle, load_palettes, matrix_colours, pixels, plot
from tests.support.server import serve
from tests.support.visit import Visit, data, open_visit

GRID_MS, UPDATE_MS, REACHABLE_MS = 300.0, 200.0, 1000.0
SWITCH_MS, LONG_SWITCH_MS = 50.0, 100.0
EDIT_MS, MASK_MS = 150.0, 50.0
HEAP_MB = 300.0
N_GRID, N_WIDE, N_EDIT = 128, 512, 64
CODE = 1 / 255  # how far a weight of 8 bits may be off, and a little more for what is printed
EDITED = 2  # the entry of q that is edited
N_PROBES = 300
Act = Callable[[], object]
Check = Callable[[int], str | None]


def measure(rounds: int) -> list[Result]:
    """The rows of this part."""
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        deep, long = save_deep(Path(name) / "deep", "encoder"), save_long(Path(name) / "long")
        palette = load_palettes(browser)["light"]
        with serve(env={VARIABLE: name}) as url:
            bench = Bench(browser, url, palette, rounds)
            model = attnviz.load(str(deep))
            return [
                *of_grid(bench, model, deep),
                *of_heads(bench, model, deep, N_WIDE, SWITCH_MS),
                *of_heads(bench, attnviz.load(str(long)), long, LONG, LONG_SWITCH_MS),
                of_edits(bench, model, deep),
                *of_masks(bench, model, deep),
            ]


class Bench:
    """A browser, the app it looks at, and how often each thing is done."""

    def __init__(self, browser: Browser, url: str, palette: Palette, rounds: int) -> None:
        self.browser, self.url, self.palette, self.rounds = browser, url, palette, rounds

    @contextmanager
    def opened(self, path: str, folder: Path, text: str, **more: object) -> Iterator[Visit]:
        """A page of the app on this model and text, closed after."""
        visit = open_visit(self.browser, self.url, path, model=folder, text=text, **more)
        yield visit
        visit.page.context.close()


def of_grid(bench: Bench, model: LoadedModel, folder: Path) -> list[Result]:
    """New texts on the overview, and another order of all heads."""
    rounds, palette = bench.rounds, bench.palette
    with bench.opened("overview", folder, "the cat sat", layer=0, head=0) as visit:
        grid = new_text(visit, model, N_GRID, palette, rounds, GRID_MS, words_of)
        capture = attnviz.capture(model, words_of(model, N_GRID, rounds))
        order = of_order(visit, capture, rounds)
    with bench.opened("overview", folder, "the cat sat", layer=0, head=0) as visit:
        wide = new_text(visit, model, N_WIDE, palette, min(rounds, 3), REACHABLE_MS, words_of)
        later = weights_of_all(
            visit, attnviz.capture(model, words_of(model, N_WIDE, min(rounds, 3))), palette
        )
        n_cells = visit.page.locator(".av-grid .av-picker-cell").count()
        missing = LAYERS * HEADS - n_cells
        reachable = Result(
            f"{wide.name}, all heads within reach",
            wide.samples,
            wide.unit,
            wide.budget,
            wide.wrong or (f"{missing} heads are not there" if missing else None),
        )
        heap = Result(f"heap of Overview, n={N_WIDE}", (heap_mb(visit),), "MB", HEAP_MB)
    return [grid, order, reachable, later, heap]


def weights_of_all(visit: Visit, capture: attnviz.Capture, palette: Palette) -> Result:
    """From the key that applied the last text until every head's own weights are there."""
    visit.page.wait_for_function("() => window.avWhole !== undefined")
    late: float = visit.page.evaluate("avWhole")
    last = visit.page.locator(".av-picker-cell[data-layer='11'][data-head='11']")
    last.hover()
    weights = capture.weights(LAYERS - 1, HEADS - 1)
    visit.canvas(PREVIEW).and_(visit.page.locator("[data-layer='11']")).wait_for()
    wrong = wrong_head(visit, weights, HEADS - 1, palette)
    return Result(f"new text → weights of all heads, n={N_WIDE}", (late,), "ms", None, wrong)


def of_order(visit: Visit, capture: attnviz.Capture, rounds: int) -> Result:
    """All heads sorted by one number, then by another."""
    numbers = measured(capture.all_weights(), capture.tokens)
    names, cells = ("entropy", "previous"), visit.page.locator(".av-grid .av-picker-cell")
    select = visit.page.get_by_label("Order")

    def check(done: int) -> str | None:
        first = int(np.argmax(numbers[names[done % 2]]))
        shown = data(cells.first)
        right = (int(shown["layer"]), int(shown["head"])) == divmod(first, HEADS)
        return None if right else f"L{shown['layer']}.H{shown['head']} comes first"

    acts = [lambda at=at: select.select_option(names[at % 2]) for at in range(rounds)]  # type: ignore[misc]
    board = visit.canvas("All heads of")
    return timed(visit, f"another order of all heads, n={N_GRID}", board, "input", acts,
                 UPDATE_MS, check)  # fmt: skip


def of_heads(
    bench: Bench, model: LoadedModel, folder: Path, n_tokens: int, budget: float
) -> list[Result]:
    """Another head, another layer, cells pointed at, cells chosen; the heap at the end."""
    text = words_of(model, n_tokens)
    weights = attnviz.capture(model, text).all_weights()
    rounds, results = bench.rounds, []
    with bench.opened("", folder, text) as visit:
        results.append(head_switch(visit, model, text, bench.palette, rounds, budget))
        results.append(layer_switch(visit, bench, weights, budget))
    with bench.opened("head", folder, text) as visit:
        results.append(head_switch(visit, model, text, bench.palette, rounds, budget))
    with bench.opened("head", folder, text) as visit:
        results += of_cells(visit, weights[0, 0], rounds, budget)
        heap = HEAP_MB if n_tokens == N_WIDE else None
        results.append(Result(f"heap of Head, n={n_tokens}", (heap_mb(visit),), "MB", heap))
    return results


def layer_switch(visit: Visit, bench: Bench, weights: np.ndarray, budget: float) -> Result:
    """Down and up through the layers of one head on the overview."""
    chosen = visit.page.locator(".av-picker-cell[aria-selected=true]")
    head = int(data(chosen)["head"])
    chosen.focus()
    canvas, press = visit.canvas(PREVIEW), visit.page.keyboard.press

    def check(done: int) -> str | None:
        layer = int(data(canvas)["layer"])
        if layer != (done + 1) % 2:
            return f"layer {layer} is shown after {done + 1} steps"
        return wrong_head(visit, weights[layer, head], head, bench.palette)

    keys = ("ArrowDown", "ArrowUp")
    acts = [lambda at=at: press(keys[at % 2]) for at in range(bench.rounds)]  # type: ignore[misc]
    name = f"layer switch on Overview, n={weights.shape[-1]}"
    return timed(visit, name, canvas, "keydown", acts, budget, check)


def of_cells(visit: Visit, weights: np.ndarray, rounds: int, budget: float) -> list[Result]:
    """The pointer over cells of one head, then clicks on others."""
    canvas, mouse, n = visit.canvas(PREVIEW), visit.page.mouse, len(weights)
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    cells = np.random.default_rng(n).integers(0, n // 2, (2 * rounds, 2))
    cells[:, 0] += n // 4  # in sight, and not the same row twice
    points = [cell_middle(canvas, int(q), int(k), n, n) for q, k in cells]
    near = math.ceil(n / min(plot(canvas)[2:]))

    def at(place: int) -> tuple[float, float]:
        return box["x"] + points[place][0], box["y"] + points[place][1]

    def check(done: int, first: int = 0) -> str | None:
        return wrong_readout(visit, weights, cells[first + done], near)

    hovers = [lambda i=i: mouse.move(*at(i)) for i in range(rounds)]  # type: ignore[misc]
    clicks = [lambda i=i: mouse.click(*at(i)) for i in range(rounds, 2 * rounds)]  # type: ignore[misc]
    return [
        timed(visit, f"hover, n={n}", canvas, "pointermove", hovers, budget, check),
        timed(visit, f"cell selection, n={n}", canvas, "click", clicks, budget,
              lambda done: check(done, rounds)),
    ]  # fmt: skip


def wrong_readout(visit: Visit, weights: np.ndarray, cell: np.ndarray, near: int) -> str | None:
    """What is wrong with the printed weight; `near` is how far off a cell may be.

    Clicks stand on whole pixels, and a pixel holds several cells of a long text.
    """
    said = visit.page.locator(".av-readout").first.inner_text()
    places = [int(place.replace(",", "")) for place in re.findall(r"\(([\d,]+)\)", said)]
    printed = re.search(r"weight\D*(\d\.\d+)", said)
    if len(places) != 2 or printed is None or np.abs(np.subtract(places, cell)).max() > near:
        return f"the cell {tuple(map(int, cell))} was pointed at, the page says: {said}"
    weight = float(weights[places[0], places[1]])
    off = abs(float(printed[1]) - weight)
    allowed = CODE * weight**0.5 + CODE**2 + 5e-5
    return None if off <= allowed else f"weight {weight:.4f} is printed as {printed[1]}"


def of_edits(bench: Bench, model: LoadedModel, folder: Path) -> Result:
    """One entry of q typed anew: the server derives every stage, the panels are painted."""
    text, query, key = words_of(model, N_EDIT), 5, 7
    call = attnviz.capture(model, text).call(0)
    width = call.inputs.qkv(0)[0].shape[1]
    with bench.opened("steps", folder, text, query=query, key=key) as visit:
        entries = visit.page.locator(".panel[data-stage=q] canvas[role=img]")
        x, y = cell_middle(entries, query, EDITED, N_EDIT, width)
        entries.click(position={"x": x, "y": y})
        box = visit.page.locator("input.edit-value")
        panel = visit.page.locator(".panel[data-stage=weights] canvas[role=img]")

        def act(value: float) -> None:
            box.fill(str(value))
            box.press("Enter")

        def check(done: int) -> str | None:
            steps = attnviz.derive(call, 0, edits=parse(f"q.{query}.{EDITED}={done + 1}"))
            wanted = float(steps.weights[query, key])
            said = visit.page.locator("li[data-sum=weights] .result").inner_text()
            shown = float(said.replace("−", "-"))
            fits = abs(shown - wanted) <= 1e-4 * max(1.0, abs(wanted))
            return None if fits else f"the weight is {wanted:.5g}, the page says {said}"

        act(-1)  # the first edit makes panels without the model's own numbers beside them
        visit.page.locator(".av.steps[data-edits='1']").wait_for()
        acts = [lambda at=at: act(at + 1) for at in range(bench.rounds)]  # type: ignore[misc]
        name = f"edited number → all panels, n={N_EDIT}"
        return timed(visit, name, panel, "keydown", acts, EDIT_MS, check, messages=None)


def of_masks(bench: Bench, model: LoadedModel, folder: Path) -> list[Result]:
    """The causal mask on and off, then rectangles drawn with the pointer."""
    text = words_of(model, N_GRID)
    scaled = attnviz.derive(attnviz.capture(model, text).call(0), 0).scaled.numpy()
    causal = np.tril(np.ones_like(scaled, dtype=bool))
    with bench.opened("masks", folder, text) as visit:
        canvas = visit.page.locator(".map[data-sentence='0'] canvas[role=img]")
        box = visit.page.get_by_label("Causal mask")
        box.focus()

        def check(done: int) -> str | None:
            open_cells = causal if done % 2 == 0 else np.ones_like(causal)
            return wrong_masked(canvas, scaled, open_cells, bench.palette)

        press = visit.page.keyboard.press
        acts = [lambda: press("Space") for _ in range(2 * (bench.rounds // 2))]
        name = f"mask switched, n={N_GRID}"
        switched = timed(visit, name, canvas, "keyup", acts, MASK_MS, check, messages=len(acts))
        told = len(visit.seen.sent)
        visit.page.get_by_label("Drawn by hand").check()
        visit.wait_until(lambda: len(visit.seen.sent) > told)  # not counted as one of the strokes
        return [switched, of_strokes(visit, canvas, scaled, bench)]


def of_strokes(visit: Visit, canvas: Locator, scaled: np.ndarray, bench: Bench) -> Result:
    """Rectangles of cells closed by dragging, one below the other, until the pointer lets go."""
    mouse, n = visit.page.mouse, len(scaled)
    closed = np.zeros_like(scaled, dtype=bool)

    def drag(top: int) -> None:
        canvas.scroll_into_view_if_needed()
        bounds = canvas.bounding_box()  # the first stroke brings a button that moves it
        assert bounds is not None
        ends = [cell_middle(canvas, top + more, 10 + 4 * more, n, n) for more in (0, 3)]
        (x1, y1), (x2, y2) = [(bounds["x"] + x, bounds["y"] + y) for x, y in ends]
        mouse.move(x1, y1)
        mouse.down()
        mouse.move(x2, y2, steps=3)
        closed[top : top + 4, 10:23] = True
        mouse.up()

    def check(_done: int) -> str | None:
        return wrong_masked(canvas, scaled, ~closed, bench.palette)

    acts = [lambda top=top: drag(top) for top in range(4, 4 + 6 * bench.rounds, 6)]  # type: ignore[misc]
    name = f"mask dragged, n={n}"
    return timed(visit, name, canvas, "pointerup", acts, MASK_MS, check, messages=len(acts))


def wrong_masked(
    canvas: Locator, scaled: np.ndarray, attends: np.ndarray, palette: Palette
) -> str | None:
    """Open cells on the map against the softmax over what may be attended to, written out here."""
    exponents = np.where(attends, np.exp(scaled - scaled.max(axis=1, keepdims=True)), 0)
    weights = (exponents / exponents.sum(axis=1, keepdims=True)).astype(np.float32)
    points, expected = matrix_colours(canvas, weights, palette)
    open_cells = np.flatnonzero(attends.ravel())
    chosen = np.random.default_rng(len(open_cells)).choice(open_cells, N_PROBES)
    shown = pixels(canvas, [points[i] for i in chosen])
    off = sum(colour not in expected[i] for i, colour in zip(chosen, shown, strict=True))
    return f"{off} of {N_PROBES} open cells have a wrong colour" if off else None


def timed(
    visit: Visit,
    name: str,
    canvas: Locator,
    kind: str,
    acts: Sequence[Act],
    budget: float,
    check: Check,
    messages: int | None = 0,
) -> Result:
    """Events of one kind, one after the other; after each the picture is checked.

    The server may hear of it in so many `messages`; None: in any number.
    """
    canvas.evaluate(ON_EVENT, kind)
    before, wrong = len(visit.seen.sent), None
    for done, act in enumerate(acts):
        act()
        visit.page.wait_for_function("(count) => avTimes.length > count", arg=done)
        wrong = wrong or check(done)
    sent = len(visit.seen.sent) - before
    if messages is not None and sent > messages:
        wrong = f"{sent} messages went to the server, at most {messages} may"
    return Result(name, times(visit), "ms", budget, wrong)


def heap_mb(visit: Visit) -> float:
    """What scripts hold after a collection, buffers included, in MB."""
    session = visit.page.context.new_cdp_session(visit.page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")
    return float(used["usedSize"] + used.get("backingStorageSize", 0)) / 1e6
