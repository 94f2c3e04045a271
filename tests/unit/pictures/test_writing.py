"""The wrapper of writing: what travels in full and for the bar alone, and which texts it needs."""

import re

import numpy as np

from attnviz.pictures import writing
from attnviz.pictures.shared import bundle
from attnviz.pictures.shared.buffer import quantise, unpack
from attnviz.pictures.shared.canvas import packed
from attnviz.pictures.shared.heads import Axes, HeadsView
from attnviz.pictures.writing import EMPTY, NO_SLOT, Draws, PlayerView, WritingView
from tests.unit.pictures.test_grid_head import axis

LAYERS, HEADS, TOKENS = 2, 3, 5
VIEW = HeadsView(
    model="stories",
    queries=axis("<s>", "</script><img src=x>", "%{x}", "שלום", "cat"),
    keys=axis("<s>", "</script><img src=x>", "%{x}", "שלום", "cat"),
    cross=False,
    sentences=(("L spreads",) * HEADS,) * LAYERS,
    weights=np.tril(np.full((LAYERS, HEADS, TOKENS, TOKENS), 0.2, np.float32)),
    small=True,
)
DRAWS = Draws(
    first=3,
    n_vocabulary=11,
    labels=(("cat", "<b>", "dog"), ("dog", "cat", "")),
    before=np.array([[0.5, 0.25, 0.125], [0.5, 0.375, 0]], np.float32),
    after=np.array([[0.75, 0.25, 0], [1, 0, 0]], np.float32),
    cut=np.array([[0, 0, 1], [0, 2, 0]], np.uint8),
    drawn=np.array([2, -1]),
    rank=np.array([4, -1]),
    others=np.array([[0.125, 0], [0.125, 0]], np.float32),
    n_left=np.array([2, 1]),
    sampled=True,
    sampling="temperature 0.5",
)


def test_a_buffer_holds_text_weights_and_draws() -> None:
    header, arrays = unpack(packed(writing.CANVAS, WritingView(VIEW, DRAWS), "en"))
    assert header["tokens"] == list(VIEW.queries.labels)
    assert header["written"] == [0, 0, 0, 0, 1]
    assert header["compact"] == 0
    np.testing.assert_array_equal(arrays["weights"], quantise(VIEW.weights, 8))
    draws = header["draws"]
    vocabulary = draws["vocabulary"]
    named = [[None if i == EMPTY else vocabulary[i] for i in row] for row in arrays["draws.ids"]]
    assert named == [["cat", "<b>", "dog"], ["dog", "cat", None]]
    assert arrays["draws.drawn"].tolist() == [2, NO_SLOT]
    for name in ("before", "after", "cut", "others"):
        np.testing.assert_array_equal(arrays[f"draws.{name}"], getattr(DRAWS, name))
    assert arrays["draws.n_left"].tolist() == [2, 1]
    assert (draws["first"], draws["n_vocabulary"], draws["sampled"]) == (3, 11, 1)


def test_the_bar_alone_carries_no_weights() -> None:
    axes = Axes.of(VIEW.queries, VIEW.keys, cross=False)
    data = packed(writing.CANVAS, PlayerView(axes, VIEW.extent), "en")
    header, arrays = unpack(data)
    assert (header["compact"], arrays) == (1, {})
    assert (header["n_layers"], header["n_heads"]) == (LAYERS, HEADS)
    assert (header["n_query"], header["n_key"]) == (TOKENS, TOKENS)


def test_codes_are_those_of_the_browser() -> None:
    source = (bundle.FOLDER / "writing" / "draws.js").read_text(encoding="utf-8")
    found = dict(re.findall(r"^const (\w+) = (\d+);", source, re.MULTILINE))
    assert found == {"EMPTY": str(EMPTY), "NO_SLOT": str(NO_SLOT)}
