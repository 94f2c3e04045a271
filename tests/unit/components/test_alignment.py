"""The wrappers of alignment and similarity: what travels, and what they believe."""

import json
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz.components import alignment, bundle, similarity
from attnviz.components.alignment import (
    AlignmentView,
    ShownWord,
    Stated,
    pack_alignment,
    parse_choice,
)
from attnviz.components.buffer import quantise, unpack
from attnviz.components.heads import strings_of
from attnviz.components.selection import Extent, Selection
from attnviz.components.similarity import SimilarityView, pack_similarity

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


CASES = [(alignment, pack_alignment, aligned), (similarity, pack_similarity, similar)]
IDS = ["alignment", "similarity"]


def test_a_buffer_holds_both_sides() -> None:
    view = aligned()
    header, arrays = unpack(pack_alignment(view, {"hint": "x"}))
    assert (header["n_layers"], header["n_heads"]) == (LAYERS, HEADS)
    assert [word["text"] for word in header["source"]] == [word.text for word in view.source]
    assert [word["special"] for word in header["source"]] == [0, 0, 0, 0, 1]
    assert header["target"][1] == {"text": "chat", "at": 1, "special": 0, "probability": 0.5}
    assert "probability" not in header["source"][0]
    assert header["stated"] == {"layer": 1, "head": 2, "mean": None}
    np.testing.assert_array_equal(arrays["weights"], quantise(view.weights, 16))


def test_a_buffer_holds_the_cosines() -> None:
    header, arrays = unpack(pack_similarity(similar(), {}))
    assert header["sentences"] == [
        {"text": "mine", "own": 1},
        {"text": "<b>theirs</b>", "own": 0},
    ]
    np.testing.assert_array_equal(arrays["cosine"], similar().cosine)


@pytest.mark.parametrize(("part", "packer", "view"), CASES, ids=IDS)
def test_demo_json_is_the_header_that_travels(
    part: object, packer: Callable[..., bytes], view: Callable[[], object]
) -> None:
    name = part.__name__.rpartition(".")[2]  # type: ignore[attr-defined]
    data = packer(view(), strings_of(part.STRING_KEYS, lambda key: key))  # type: ignore[attr-defined]
    demo = json.loads((bundle.FOLDER / name / "demo.json").read_text(encoding="utf-8"))
    assert json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")]) == demo


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


def app_of_alignment() -> None:
    from attnviz.components.selection import Extent
    from attnviz.ui.host.components import show_alignment

    show_alignment(b"\0\0\0\0", Extent(1, 1, 1, 1))


def app_of_similarity() -> None:
    from attnviz.ui.host.components import show_similarity

    show_similarity(b"\0\0\0\0")


@pytest.mark.parametrize(
    ("app", "name"), [(app_of_alignment, alignment.NAME), (app_of_similarity, similarity.NAME)]
)
def test_a_component_mounts_with_its_bytes(app: Callable[[], None], name: str) -> None:
    ran = AppTest.from_function(app).run()
    assert not ran.exception
    (mounted,) = ran.get("bidi_component")
    assert mounted.proto.component_name == name
    assert mounted.proto.bytes == b"\0\0\0\0"
