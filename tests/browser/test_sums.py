"""Row and column sums on Head: what is said of them is the library's, masks and hiding included."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import attnviz
from tests.browser.conftest import OpenVisit
from tests.support.canvas import cell_middle, pixels
from tests.support.cases import mostly_slow
from tests.support.visit import data, expect_data
from tests.support.waiting import eventually

CASES = [
    ("minilm", "The animal didn't cross the street because it was too tired.", "show"),
    ("minilm", "The animal didn't cross the street because it was too tired.", "hide"),
    ("stories", "When Mary and John went to the store, John gave a book to", "show"),
]
ROW, COLUMN = 6, 2


@pytest.mark.parametrize(("model", "text", "special"), mostly_slow(CASES, CASES[1:2]))
def test_sums_are_those_of_the_weights(
    visit: OpenVisit, model: str, text: str, special: str
) -> None:
    capture = attnviz.capture(attnviz.load(model), text)
    weights, hidden = capture.weights(1, 2), capture.tokens.special & (special == "hide")
    shown = weights[np.ix_(~hidden, ~hidden)]
    seen = np.tril(np.ones_like(weights)) if model == "stories" else np.ones_like(weights)
    uniform = (seen / seen.sum(1, keepdims=True))[np.ix_(~hidden, ~hidden)].sum(0)
    received, held = shown.sum(0), shown.sum(1)

    opened = visit("head", text=text, model=model, layer=1, head=2, special=special)
    canvas, n = opened.canvas("Attention weights of"), len(shown)
    before = len(opened.seen.sent)
    opened.page.get_by_label("Row and column sums").check()
    opened.wait_for_parameters(sums=1)
    x, y = cell_middle(canvas, ROW, COLUMN, n, n)
    canvas.hover(position={"x": x, "y": y})
    said = opened.page.locator(".av-sums")
    expect(said).to_contain_text(f"from {n} rows")
    expected = [received[COLUMN], received[COLUMN] / uniform[COLUMN], uniform[COLUMN], held[ROW]]

    def check() -> None:
        numbers = [float(found) for found in re.findall(r"\d+\.\d+", said.inner_text())]
        assert numbers == pytest.approx(expected, abs=0.011)
        assert [numbers[0], *numbers[2:]] == pytest.approx([expected[0], *expected[2:]], abs=6e-4)

    eventually(check)
    assert opened.seen.sent[before:] == []


@pytest.mark.slow
def test_a_bar_is_as_long_as_its_sum(visit: OpenVisit) -> None:
    """The longest column's bar fills its track, and a click on a row's bar pins the row."""
    model, text, _ = CASES[0]
    received = attnviz.capture(attnviz.load(model), text).weights(1, 2).sum(0)
    opened = visit("head", text=text, layer=1, head=2, sums=1)
    canvas, n = opened.canvas("Attention weights of"), len(received)

    def check() -> None:
        geom = {name: float(data(canvas)[name]) for name in "xywh"}
        tracks = []
        for column in range(n):
            x = geom["x"] + (column + 0.5) * geom["w"] / n
            track = [(x, geom["y"] + geom["h"] + 7.5 + step) for step in range(34)]
            tracks.append(pixels(canvas, track))
        colour = tracks[int(received.argmax())][-1]
        filled = np.array([track.count(colour) for track in tracks])
        lengths = 34 * received / received.max()
        # the tick for uniform attention, 1.5 px thick, lies over up to three pixels of a bar
        assert ((filled - lengths < 1) & (lengths - filled < 4)).all(), (filled, lengths)
        assert len(set(filled.tolist())) > 3

    eventually(check)
    geom = {name: float(data(canvas)[name]) for name in "xywh"}
    cell = geom["w"] / n
    canvas.click(position={"x": geom["x"] + geom["w"] + 15, "y": geom["y"] + 3.5 * cell})
    expect_data(canvas, query=3, key=None)
