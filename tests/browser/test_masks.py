"""Masks: blocked cells are drawn as blocked, with −∞ and the reason, and weights are recomputed."""

from functools import partial

import numpy as np
import pytest
import torch
from playwright.sync_api import Locator, expect

import attnviz
from attnviz.i18n import text
from attnviz.masks.spec import parse
from attnviz.models.loaded_model import LoadedModel
from tests.browser.conftest import OpenVisit
from tests.support.canvas import (
    Colour,
    Palette,
    cell_colours,
    cell_middle,
    cell_points,
    pixels,
    plot,
)
from tests.support.visit import Visit, data, expect_data
from tests.support.waiting import (
    at_rest,
    eventually,
    expect_equal,
    expect_numbers,
    expect_true,
    number,
)

FIRST = "The animal didn't cross the street because it was too tired."
SECOND = "The cat sat on the mat."
N, N_SECOND = 16, 9
LAYER, HEAD = 5, 11


def maps(visit: Visit, sentence: int) -> Locator:
    return visit.page.locator(f".map[data-sentence='{sentence}'] canvas[role=img]")


def opened_batch(visit: OpenVisit, **options: object) -> Visit:
    return visit("masks", text=FIRST, text2=SECOND, layer=LAYER, head=HEAD, **options)


def test_the_masks_say_whose_they_are_and_a_warning_stands_above_its_map(visit: OpenVisit) -> None:
    page = opened_batch(visit, masks="custom=+0.0:0.15").page
    legend = page.locator("fieldset.layers legend")
    expect(legend).to_have_text(f"Masks of L{LAYER}.H{HEAD} alone")
    first = page.locator(".map[data-sentence='0']")
    expect(first.locator(".dead.bad")).to_be_visible()

    def is_above() -> bool:
        warning, plot = (first.locator(part).bounding_box() for part in (".dead", ".plot"))
        return bool(warning and plot and warning["y"] + warning["height"] <= plot["y"])

    expect_true(is_above)


def switch_on_causal(opened: Visit) -> None:
    opened.page.get_by_label("Causal mask").check()
    expect_data(maps(opened, 0), variant=3)


def cell_colour_count(canvas: Locator, row: int, col: int) -> int:
    """How many different colours one cell has: 1 for a plain cell, more for a hatched one."""
    _, _, w, h = plot(canvas)
    ((x, y),) = cell_points(canvas, [(row, col)], N, N)
    reach = [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3]
    points = [(x + a * w / N, y + b * h / N) for a in reach for b in reach]
    return len(set(pixels(canvas, points)))


def expect_cell(canvas: Locator, row: int, col: int, hatched: bool) -> None:
    """Waits until a cell is hatched, as a blocked one is, or plain."""
    expect_equal(lambda: cell_colour_count(canvas, row, col) > 1, hatched)


def choose(opened: Visit, sentence: int, row: int, col: int) -> None:
    canvas = maps(opened, sentence)
    x, y = cell_middle(canvas, row, col, N, N)
    canvas.click(position={"x": x, "y": y})
    expect_data(canvas, cell=f"{row},{col}")


def table_row(opened: Visit, key: int) -> dict[str, str]:
    """One row of the table below the maps, by the names of its columns."""
    names = opened.page.locator(".row-table thead th").all_inner_texts()
    cells = opened.page.locator(f".row-table tr[data-key='{key}'] > *").all_inner_texts()
    return dict(zip(names, cells, strict=True))


@pytest.mark.slow
def test_padding_of_the_second_sentence_is_blocked(visit: OpenVisit) -> None:
    opened = opened_batch(visit)
    expect_data(maps(opened, 0), variant=1)
    expect(opened.page.locator(".banner")).to_have_attribute("data-whatif", "false")
    counts = opened.page.locator(".map .count")
    expect(counts.nth(0)).to_have_text(f"{N} tokens, 0 padding")
    expect(counts.nth(1)).to_have_text(f"{N} tokens, {N - N_SECOND} padding")
    for row in (0, 4, N - 1):
        expect_cell(maps(opened, 1), row, N_SECOND, hatched=True)  # the first padding key
        expect_cell(maps(opened, 1), row, N_SECOND - 1, hatched=False)
        expect_cell(maps(opened, 0), row, N - 1, hatched=False)
    choose(opened, 1, 4, N_SECOND + 1)

    def check() -> None:
        shown = table_row(opened, N_SECOND + 1)
        assert np.isfinite(number(shown["scaled score"]))
        assert (shown["masked score"], shown["weight"]) == ("−∞", "0.0000")
        assert "padding" in shown["reason"].lower()

    eventually(check)


@pytest.mark.slow
def test_a_causal_mask_is_a_what_if_and_blocks_the_future(visit: OpenVisit) -> None:
    opened = opened_batch(visit)
    before = len(opened.seen.sent)
    expect_cell(maps(opened, 0), 3, 9, hatched=False)
    switch_on_causal(opened)
    expect(opened.page.locator(".banner")).to_have_attribute("data-whatif", "true")
    for row, col in [(0, 1), (3, 9), (14, 15)]:
        expect_cell(maps(opened, 0), row, col, hatched=True)
    for row, col in [(0, 0), (9, 3), (15, 15)]:
        expect_cell(maps(opened, 0), row, col, hatched=False)
    canvas = maps(opened, 0)
    x, y = cell_middle(canvas, 3, 9, N, N)
    canvas.hover(position={"x": x, "y": y})
    readout = opened.page.locator(".said .readout")
    expect(readout).to_contain_text("masked score −∞")
    expect(readout).to_contain_text("causal mask hides the future")
    opened.wait_until(lambda: len(opened.seen.sent) - before == 1)


def test_what_if_weights_and_colours_are_those_of_the_library(
    visit: OpenVisit, minilm: LoadedModel, palettes: dict[str, Palette]
) -> None:
    capture = attnviz.capture(minilm, [FIRST, SECOND])
    ran = attnviz.derive(capture.call(LAYER), HEAD, batch=0)
    what_if = attnviz.derive(capture.call(LAYER), HEAD, 0, attnviz.masks.causal(N))
    opened = opened_batch(visit)
    switch_on_causal(opened)
    query = 10
    choose(opened, 0, query, 2)

    def check(key: int) -> None:
        shown = table_row(opened, key)
        ours, theirs = float(what_if.weights[query, key]), float(ran.weights[query, key])
        assert number(shown["scaled score"]) == pytest.approx(
            float(ran.scaled[query, key]), abs=6e-5
        )
        assert number(shown["weight"]) == pytest.approx(ours, abs=6e-5)
        assert number(shown["weight in the model"]) == pytest.approx(theirs, abs=6e-5)
        assert number(shown["difference"]) == pytest.approx(ours - theirs, abs=6e-5)
        assert (shown["masked score"] == "−∞") == (key > query)
        assert ("causal" in shown["reason"].lower()) == (key > query)

    for key in (0, query, query + 1, N - 1):  # before the query, at it, and what it may not see
        eventually(partial(check, key))
    for sentence in (0, 1):
        mask = attnviz.masks.combine(
            attnviz.masks.causal(N),
            attnviz.derive(capture.call(LAYER), HEAD, sentence).mask,
        )
        weights = attnviz.derive(capture.call(LAYER), HEAD, sentence, mask).weights
        cells = [(row, col) for row in range(N) for col in range(N) if mask[row, col]]
        allowed = [palettes["light"].of_weight(float(weights[cell])) for cell in cells]
        eventually(partial(check_colours, maps(opened, sentence), cells, allowed))


def check_colours(
    canvas: Locator, cells: list[tuple[int, int]], allowed: list[set[Colour]]
) -> None:
    shown = cell_colours(canvas, cells, N, N)
    for cell, colour, right in zip(cells, shown, allowed, strict=True):
        assert colour in right, cell


@pytest.mark.slow
def test_a_second_sentence_typed_in_joins_the_batch(visit: OpenVisit) -> None:
    opened = visit("masks", text=FIRST, text2="")
    expect(opened.page.locator(".map")).to_have_count(1)
    box = opened.page.get_by_role("textbox", name="Second sentence")
    box.fill(SECOND)
    box.press("Enter")
    expect(opened.page.locator(".map")).to_have_count(2)
    expect(opened.page.locator(".map .count").nth(1)).to_have_text(
        f"{N} tokens, {N - N_SECOND} padding"
    )
    opened.wait_for_parameters(text2=SECOND)


@pytest.mark.slow
@pytest.mark.parametrize(
    "laid",
    [
        pytest.param("none", marks=pytest.mark.slow),
        pytest.param("window=3", marks=pytest.mark.slow),
        pytest.param("padding,prefix=4", marks=pytest.mark.slow),
        pytest.param("causal,block=5", marks=pytest.mark.slow),
        "padding,causal,window=4,custom=+9.0:12.5-10.2:10.3",
    ],
)
def test_any_set_of_masks_gives_the_librarys_weights(
    visit: OpenVisit, minilm: LoadedModel, laid: str
) -> None:
    """Masks from a deep link, computed in the page, against masks and softmax of the library."""
    call = attnviz.capture(minilm, [FIRST, SECOND]).call(LAYER)
    opened = opened_batch(visit, masks=laid)
    for sentence, n_real in ((0, N), (1, N_SECOND)):
        layers = attnviz.masks.named(parse(laid), N, torch.arange(N) < n_real)
        mask = torch.ones(N, N, dtype=torch.bool)
        for layer in layers.values():
            mask &= layer
        wanted = attnviz.derive(call, HEAD, sentence, mask).weights
        for query in (3, 10):
            choose(opened, sentence, query, 2)
            cells = opened.page.locator(".row-table tbody td.weight")
            expect_numbers(cells, wanted[query].tolist(), abs=6e-5)
    banner = opened.page.locator(".banner")
    expect_true(lambda: float(data(banner)["error"]) < 1e-6)


def test_cells_are_drawn_with_the_pointer_and_opened_again(visit: OpenVisit) -> None:
    opened = opened_batch(visit)
    opened.page.get_by_label("Drawn by hand").check()
    # the answer under the masks is there though the pointer has not left the picture
    expect(opened.page.get_by_text("With this mask on").locator("visible=true")).to_be_visible()
    canvas = maps(opened, 0)

    def drag(start: tuple[int, int], end: tuple[int, int]) -> None:
        box = at_rest(canvas.bounding_box)
        assert box is not None
        (x1, y1), (x2, y2) = cell_points(canvas, [start, end], N, N)
        opened.page.mouse.move(box["x"] + x1, box["y"] + y1)
        opened.page.mouse.down()
        opened.page.mouse.move(box["x"] + x2, box["y"] + y2, steps=4)
        opened.page.mouse.up()

    drag((2, 3), (5, 8))
    opened.wait_for_parameters(masks="padding,custom=+2.3:5.8")
    expect_cell(canvas, 4, 5, hatched=True)
    expect_cell(canvas, 6, 5, hatched=False)
    drag((3, 4), (3, 6))
    opened.wait_for_parameters(masks="padding,custom=+2.3:5.8-3.4:3.6")
    expect_cell(canvas, 3, 5, hatched=False)
    choose(opened, 0, 7, 7)
    canvas.press("b")
    opened.wait_for_parameters(masks="padding,custom=+2.3:5.8-3.4:3.6+7.7:7.7")
    opened.page.get_by_role("button", name="Back to the model").click()
    opened.wait_for_parameters(masks=None)
    expect(opened.page.locator(".banner")).to_have_attribute("data-whatif", "false")


@pytest.mark.slow
def test_the_code_below_follows_the_masks(visit: OpenVisit) -> None:
    opened = opened_batch(visit)
    opened.page.get_by_role("checkbox", name="Sliding window").check()
    size = opened.page.get_by_label("Size of: Sliding window")
    size.fill("6")
    opened.wait_for_parameters(masks="padding,window=6")
    opened.page.get_by_text(text("en", "forensics.code_title")).click()
    expect(opened.page.get_by_test_id("stCode").first).to_contain_text("(query - key).abs() < 6")
