"""The wrappers of alignment and similarity: what travels, and what they believe."""

import numpy as np
import pytest

from attnviz.pictures import alignment, similarity
from attnviz.pictures.alignment import AlignmentView, ShownWord, Stated, parse_choice
from attnviz.pictures.shared.buffer import quantise, unpack
from attnviz.pictures.shared.canvas import packed
from attnviz.pictures.shared.selection import Extent, Selection
from attnviz.pictures.similarity import SimilarityView

LAYERS, HEADS, TARGET, SOURCE = 2, 3, 2, 5
EXTENT = Extent(LAYERS, HEADS, 4, 7)
SENT = {"layer": 1, "head": 2, "query": 3, "key": None}


def aligned() -> AlignmentView:
    scores = np.random.default_rng(55).normal(size=(LAYERS, HEADS, TARGET, SOURCE))
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    source = ("the", "</script><img src=x>", "%{x}", "שלום", "</s>")
    return AlignmentView(
        source=tuple(ShownWord(word, at, word == "</s>") for at, word in enumerate(source)),
        target=(ShownWord("le", 0, probability=0.75), ShownWord("chat", 1, probability=0.5)),
        weights=weights.astype(np.float32),
        stated=Stated(1, 2, None, "points at the source word"),
        probability=0.375,
    )


def similar() -> SimilarityView:
    cosine = np.array([[1.0, 0.25], [0.25, 1.0]], dtype=np.float32)
    return SimilarityView("Cosines", ("mine", "<b>theirs</b>"), 1, cosine)


def test_a_buffer_holds_both_sides() -> None:
    view = aligned()
    header, arrays = unpack(packed(alignment.CANVAS, view, "en"))
    assert (header["n_layers"], header["n_heads"]) == (LAYERS, HEADS)
    assert [word["text"] for word in header["source"]] == [word.text for word in view.source]
    assert [word["special"] for word in header["source"]] == [0, 0, 0, 0, 1]
    assert header["target"][1] == {"text": "chat", "at": 1, "special": 0, "probability": 0.5}
    assert header["source"][0]["probability"] is None
    assert header["stated"] == {
        **{"layer": 1, "head": 2, "mean": None},
        "does": "points at the source word",
    }
    np.testing.assert_array_equal(arrays["weights"], quantise(view.weights, 16))


def test_a_buffer_holds_the_cosines() -> None:
    header, arrays = unpack(packed(similarity.CANVAS, similar(), "en"))
    assert (header["sentences"], header["n_own"]) == (["mine", "<b>theirs</b>"], 1)
    np.testing.assert_array_equal(arrays["cosine"], similar().cosine)


@pytest.mark.parametrize("mean", [None, "layer", "all"])
def test_a_choice_from_the_browser_is_believed_when_it_fits(mean: str | None) -> None:
    sent = {**SENT, "scale": "sqrt", "special": "show", "more": {"mean": mean, "stack": "x"}}
    assert parse_choice(sent, EXTENT) == (Selection(1, 2, 3, None), mean)
    assert parse_choice(SENT, EXTENT) == (Selection(1, 2, 3, None), None)


@pytest.mark.parametrize(
    "bad",
    [
        {"layer": 2},
        {"head": "0"},
        {"query": 4},
        {"key": 7},
        {"more": {"mean": "some"}},
        {"more": {"mean": ["all"]}},
        {"more": {"mean": 1}},
    ],
)
def test_a_choice_that_does_not_fit_is_dropped(bad: dict[str, object]) -> None:
    assert parse_choice({**SENT, **bad}, EXTENT) is None


@pytest.mark.parametrize("bad", [None, 3, "x", [], {}])
def test_what_is_no_choice_is_dropped(bad: object) -> None:
    assert parse_choice(bad, EXTENT) is None
