"""A long text in the browser: zoomed to exact cells, searched, by hand and by keyboard, stopped."""

import random
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import attnviz
from attnviz import tiles
from attnviz.app.server.sources import VARIABLE
from tests.browser.conftest import HERE, OpenVisit, Tiny
from tests.support.browser import accessibility_problems
from tests.support.canvas import Palette, pixels, plot
from tests.support.folders import WORDS
from tests.support.server import app_command, free_port, serve
from tests.support.visit import Visit, data, expect_data
from tests.support.waiting import eventually, expect_equal, expect_true

N = 2305
LAYER, HEAD = 1, 2
TEXT = " ".join(random.Random(5).choices(WORDS[6:], k=N))
RARE_AT = (700, 2001)


@pytest.fixture(scope="module")
def folder(tiny: Tiny) -> Path:
    """A model with room for 16,384 tokens, and a text for it with a token that stands twice."""
    root = tiny("long").parent
    words = TEXT.split()
    for at in RARE_AT:
        words[at] = "UNHEARD"
    (root / "book.txt").write_text(" ".join(words), encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def weights(folder: Path) -> np.ndarray:
    """The library's weights of the head that is looked at."""
    lm = attnviz.load(str(folder / "long"))
    text = (folder / "book.txt").read_text(encoding="utf-8")
    return attnviz.capture(lm, text).weights(LAYER, HEAD)


@pytest.fixture(scope="module")
def slow_server(folder: Path) -> Iterator[str]:
    """The app with a build that takes seconds."""
    port = free_port()
    command = app_command(port, str(HERE / "slow_app.py"))
    env = {VARIABLE: str(folder), "PYTHONPATH": str(HERE.parent.parent)}
    with serve(port, command, env=env) as url:
        yield url


def upload(opened: Visit, folder: Path) -> Locator:
    """The plot, after the text was uploaded as a visitor does it."""
    page = opened.page
    opened.open_menu("menu.model")
    page.get_by_text("Long text from a file").click()
    page.locator("input[type=file]").first.set_input_files(folder / "book.txt")
    plot_ = page.locator("canvas.av-tiles-plot")
    plot_.wait_for()
    opened.open_menu("menu.model", wanted=False)
    return plot_


@pytest.fixture
def opened(visit: OpenVisit, folder: Path) -> Visit:
    found = visit("head", model=folder / "long", text="the cat", layer=LAYER, head=HEAD)
    expect_data(upload(found, folder), ready="true", missing=0, level=2)
    return found


def canvas(opened: Visit) -> Locator:
    return opened.page.locator("canvas.av-tiles-plot")


def place(canvas: Locator, query: int, key: int) -> tuple[float, float]:
    """The middle of a cell, in CSS pixels from the canvas's corner."""
    x, y, _, _ = plot(canvas)
    found = {name: float(value) for name, value in data(canvas).items() if name.startswith("c")}
    scale = found["cellPx"]
    return x + (key + 0.5 - found["cameraX"]) * scale, y + (query + 0.5 - found["cameraY"]) * scale


def go(opened: Visit, query: int, key: int) -> tuple[float, float]:
    """Wheels in on a cell until cells are exact and large; where it stands then."""
    plot_ = canvas(opened)
    plot_.scroll_into_view_if_needed()
    for _ in range(40):
        x, y = place(plot_, query, key)
        if float(data(plot_)["cellPx"]) >= 12:
            break
        box = plot_.bounding_box()
        assert box is not None
        opened.page.mouse.move(box["x"] + x, box["y"] + y)
        before = data(plot_)["drawn"]
        opened.page.mouse.wheel(0, -240)
        expect(plot_).not_to_have_attribute("data-drawn", before)
    expect_data(plot_, level=0, missing=0)
    return place(plot_, query, key)


def test_maxima_and_deep_cells_have_the_librarys_weights_and_colours(
    opened: Visit, weights: np.ndarray, palettes: dict[str, Palette]
) -> None:
    opened.page.get_by_role("radio", name="√").click()
    expect_maxima(opened, weights, palettes["light"])
    query, key = np.unravel_index(int(weights[1500:1510, 900:910].argmax()), (10, 10))
    query, key = int(query) + 1500, int(key) + 900
    x, y = go(opened, query, key)
    cells = [(query + down, key + across) for down in (-3, 0, 4) for across in (-2, 0, 3)]
    points = [place(canvas(opened), *cell) for cell in cells]
    opened.page.mouse.move(5, 5)

    def check() -> None:
        for cell, colour in zip(cells, pixels(canvas(opened), points), strict=True):
            assert colour in palettes["light"].of_weight(float(weights[cell]))

    eventually(check)
    canvas(opened).hover(position={"x": x, "y": y})
    readout = opened.page.locator(".av-readout[role=status]")
    weight = float(weights[query, key])
    shown = f"{weight:.4f}" if weight >= 5e-4 else f"{weight:.2e}".replace("e-0", "e−")
    words = TEXT.split()
    row = f"{words[query]}\u2009⇢\u2009{words[query + 1]} ({query})"
    expect(readout).to_have_text(f"{row} → {words[key]} ({key}): weight {shown}")
    canvas(opened).click(position={"x": x, "y": y})
    opened.wait_for_parameters(query=query, key=key)
    expect(opened.page.locator(".av-tiles-pinned")).to_contain_text(f"weight {shown}")


def expect_maxima(opened: Visit, weights: np.ndarray, palette: Palette) -> None:
    """Waits until the whole has the colours of the maxima of its blocks."""
    opened.page.mouse.move(5, 5)
    side = 4
    places = [(row, column) for row in (300, 1200, 2200) for column in (8, 200, row - 40)]

    def check() -> None:
        points = [place(canvas(opened), row + side / 2 - 0.5, key + side / 2 - 0.5)  # type: ignore[arg-type]
                  for row, key in places]  # fmt: skip
        for (row, key), colour in zip(places, pixels(canvas(opened), points), strict=True):
            most = float(weights[row : row + side, key : key + side].max())
            # a code may be half a step of 6.6 % away
            allowed = {
                c for factor in np.linspace(0.966, 1.035, 15)
                for c in palette.of_weight(most * float(factor))
            }  # fmt: skip
            assert colour in allowed, (row, key, most)

    eventually(check)


def check_in_sight(plot_: Locator, position: int) -> None:
    x, y = place(plot_, position, position)
    left, top, w, h = plot(plot_)
    assert left < x < left + w and top < y < top + h


@pytest.mark.slow
def test_search_walks_from_place_to_place(opened: Visit) -> None:
    page, plot_ = opened.page, canvas(opened)
    page.get_by_role("searchbox", name="Find a token").fill("[unk")
    said = page.locator(".av-find-row [role=status]")
    expect(said).to_have_text("2 places")
    for at, position in enumerate([*RARE_AT, RARE_AT[0]]):
        page.get_by_role("button", name="Next place").click()
        expect(said).to_have_text(f"{at % 2 + 1} of 2: [UNK: UNHEARD] ({position:,})")
        expect_data(plot_, level=0, missing=0)
        eventually(partial(check_in_sight, plot_, position))
    page.get_by_role("button", name="Previous place").click()
    expect(said).to_have_text(f"2 of 2: [UNK: UNHEARD] ({RARE_AT[1]:,})")
    page.get_by_role("searchbox").fill("nowhere")
    expect(said).to_have_text("not in this text")
    expect(page.get_by_role("button", name="Next place")).to_be_disabled()


@pytest.mark.slow
def test_the_strongest_cells_lead_to_their_place(
    opened: Visit, weights: np.ndarray, folder: Path
) -> None:
    page, plot_ = opened.page, canvas(opened)
    for distance in (16, 128):
        query, key = np.indices(weights.shape)
        allowed = np.where((np.abs(query - key) < distance) | (key < 1), 0, weights)
        expected = np.sort(allowed.ravel())[::-1][:50]
        if distance != 16:
            page.get_by_label("Minimum distance").select_option(str(distance))
        first = page.locator(".av-cells-cell").first
        expect(first).to_have_attribute("data-weight", re.compile(f"^{expected[0]:.6f}"[:7]))
        shown = "(cells) => cells.map((cell) => Number(cell.dataset.weight))"
        expect_equal(
            partial(page.locator(".av-cells-cell").evaluate_all, shown),
            pytest.approx(expected.tolist(), abs=1e-6),
        )
    first.click()
    place_ = data(first)
    expect_data(plot_, query=place_["query"], key=place_["key"], level=0, missing=0)
    pinned = page.locator(".av-tiles-pinned")
    expect(pinned).to_contain_text(f"weight {expected[0]:.4f}")


@pytest.mark.slow
def test_by_keyboard_alone(opened: Visit, weights: np.ndarray) -> None:
    page, plot_ = opened.page, canvas(opened)
    plot_.focus()
    scale = float(data(plot_)["cellPx"])
    for _ in range(6):
        page.keyboard.press("+")
    expect_data(plot_, level=0, missing=0)
    expect_equal(lambda: float(data(plot_)["cellPx"]), pytest.approx(64 * scale, rel=0.01))
    before = float(data(plot_)["cameraX"])
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(
        "([x]) => [...document.querySelectorAll('*')].map((n) => n.shadowRoot).filter(Boolean)"
        ".some((r) => Number(r.querySelector('.av-tiles-plot')?.dataset.cameraX) < x)",
        arg=[before],
    )
    page.keyboard.press("Enter")
    expect(plot_).to_have_attribute("data-query", re.compile(r"\d+"))
    query, key = int(data(plot_)["query"]), int(data(plot_)["key"])
    page.keyboard.press("ArrowDown")
    expect_data(plot_, query=query + 1, key=key)
    weight = float(weights[query + 1, key])
    shown = f"{weight:.4f}" if weight >= 5e-4 else f"{weight:.2e}".replace("e-0", "e−")
    expect(page.locator(".av-tiles-pinned")).to_contain_text(f"weight {shown}")
    page.keyboard.press("Escape")
    expect_data(plot_, query=None)
    page.keyboard.press("Home")
    expect_data(plot_, level=2, missing=0)


@pytest.mark.slow
def test_drag_and_map_move_the_view_without_losing_tiles(opened: Visit) -> None:
    page, plot_ = opened.page, canvas(opened)
    go(opened, 1000, 500)
    box = plot_.bounding_box()
    assert box is not None
    before = data(plot_)
    page.mouse.move(box["x"] + 400, box["y"] + 400)
    page.mouse.down()
    page.mouse.move(box["x"] + 340, box["y"] + 430, steps=4)
    page.mouse.up()
    expect(plot_).not_to_have_attribute("data-camera-x", before["cameraX"])
    scale = float(before["cellPx"])

    def moved() -> list[float]:
        after = data(plot_)
        return [float(after[name]) - float(before[name]) for name in ("cameraX", "cameraY")]

    expect_equal(moved, pytest.approx([60 / scale, -30 / scale], abs=0.1))
    after = data(plot_)
    expect_true(lambda: "query" not in data(plot_))  # a drag is no click
    page.locator("canvas.av-tiles-map").click(position={"x": 30, "y": 100})
    expect(plot_).not_to_have_attribute("data-camera-y", after["cameraY"])
    expect_data(plot_, level=0, missing=0)


@pytest.mark.slow
def test_another_head_is_asked_of_the_server(opened: Visit, folder: Path) -> None:
    page, plot_ = opened.page, canvas(opened)
    page.get_by_role("button", name="Previous head").click()
    expect_data(plot_, layer=LAYER, head=HEAD - 1, ready="true", missing=0)
    lm = attnviz.load(str(folder / "long"))
    call = attnviz.capture(lm, (folder / "book.txt").read_text(encoding="utf-8")).call(LAYER)
    cell = tiles.strongest(tiles.build(call, HEAD - 1), 1, diagonal=15)[0]
    expect(page.locator(".av-cells-cell").first).to_have_attribute("data-query", str(cell.query))
    opened.wait_for_parameters(head=HEAD - 1)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_axe_finds_nothing_serious(visit: OpenVisit, folder: Path, scheme: Any) -> None:
    opened = visit("head", model=folder / "long", text="the cat", scheme=scheme)
    expect_data(upload(opened, folder), ready="true", missing=0)
    assert accessibility_problems(opened.page) == []


@pytest.mark.slow
def test_progress_is_shown_and_cancel_stops(
    visit: OpenVisit, slow_server: str, folder: Path
) -> None:
    opened = visit("head", url=slow_server, model=folder / "long", text="the cat")
    plot_, page = upload(opened, folder), opened.page
    bar = page.get_by_role("progressbar")
    expect(bar).to_be_visible()
    expect(page.get_by_text(re.compile(r"Computing L0\.H0: [1-9]\d?%"))).to_be_visible()
    expect_data(plot_, ready="false")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("The computation of L0.H0 was stopped.")).to_be_visible()
    expect(bar).to_have_count(0)
    expect_data(plot_, ready="false")
    page.get_by_role("button", name="Compute it now").click()
    expect(bar).to_be_visible()
    expect_data(plot_, ready="true", missing=0)
    expect(bar).to_have_count(0)
