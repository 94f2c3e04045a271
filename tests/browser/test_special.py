"""Special tokens can be hidden; the attention that hides with them is stated."""

import re

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import attnviz
from attnviz.models.loaded_model import LoadedModel
from tests.browser.conftest import OpenVisit
from tests.support.canvas import Palette, cell_colours, cell_middle
from tests.support.cases import mostly_slow
from tests.support.visit import Visit, expect_data
from tests.support.waiting import at_rest, eventually, expect_equal

TEXT = "The animal didn't cross the street because it was too tired."
N = 16
LAYER, HEAD = 3, 8


def heatmap(visit: Visit) -> Locator:
    return visit.canvas("Attention weights of")


def percents(visit: Visit) -> list[float]:
    said = visit.page.locator(".av-hidden-mass").inner_text()
    return [float(found) for found in re.findall(r"(\d[\d.]*)%", said)]


def printed(share: float) -> float:
    """A share as the page prints it: two digits below 10%, whole percents above."""
    percent = 100 * share
    return round(percent, 2 if percent < 1 else 1 if percent < 9.95 else 0)


@pytest.mark.parametrize(("layer", "head"), mostly_slow([(LAYER, HEAD), (0, 0), (5, 2)], 1))
def test_the_hidden_mass_is_that_of_the_library(
    visit: OpenVisit, minilm: LoadedModel, layer: int, head: int
) -> None:
    capture = attnviz.capture(minilm, TEXT)
    special, weights = capture.tokens.special, capture.weights(layer, head)
    of_rows = weights[:, special].sum(axis=1)
    opened = visit("head", text=TEXT, layer=layer, head=head)
    expect(opened.page.locator(".av-hidden-mass")).to_have_text("")
    opened.page.get_by_label("Hide special tokens").check()
    expect_data(heatmap(opened), special="hide", rows=N - 2, cols=N - 2)
    mean = printed(of_rows[~special].mean())
    expect_equal(lambda: percents(opened), pytest.approx([mean], rel=0.02))
    x, y = cell_middle(heatmap(opened), 6, 1, N - 2, N - 2)
    heatmap(opened).hover(position={"x": x, "y": y})
    heatmap(opened).click(position={"x": x, "y": y})
    query = int(np.flatnonzero(~special)[6])
    expect_data(heatmap(opened), query=query)
    expect_equal(lambda: percents(opened)[1], pytest.approx(printed(of_rows[query]), rel=0.02))


@pytest.mark.slow
@pytest.mark.parametrize("special", mostly_slow(["hide", "show"], 1))
def test_pointing_does_not_move_the_heatmap(visit: OpenVisit, special: str) -> None:
    opened = visit("head", text=TEXT, layer=LAYER, head=HEAD, special=special)
    canvas, n = heatmap(opened), N if special == "show" else N - 2
    before = at_rest(canvas.bounding_box)
    idle = opened.page.locator(".av-readout").inner_text()
    x, y = cell_middle(canvas, 6, 1, n, n)
    canvas.hover(position={"x": x, "y": y})
    expect(opened.page.locator(".av-readout")).not_to_have_text(idle)
    expect_equal(canvas.bounding_box, before)


@pytest.mark.slow
def test_what_is_left_keeps_its_colours(
    visit: OpenVisit, minilm: LoadedModel, palettes: dict[str, Palette]
) -> None:
    """Hiding does not rescale: a weight has the same colour with and without special tokens."""
    capture = attnviz.capture(minilm, TEXT)
    keep = np.flatnonzero(~capture.tokens.special)
    weights = capture.weights(LAYER, HEAD)[np.ix_(keep, keep)]
    opened = visit("head", text=TEXT, layer=LAYER, head=HEAD, special="hide")
    cells = list(np.ndindex(weights.shape))

    def check() -> None:
        shown = cell_colours(heatmap(opened), cells, *weights.shape)
        for cell, colour in zip(cells, shown, strict=True):
            assert colour in palettes["light"].of_weight(float(weights[cell])), cell

    eventually(check)


@pytest.mark.slow
def test_nothing_but_special_tokens(visit: OpenVisit) -> None:
    """Some texts have no token of their own; the page says so instead of drawing nothing."""
    opened = visit("head", text="\u0301", special="hide", canvases=False)
    expect(opened.page.get_by_text("nothing is left to show")).to_be_visible()
