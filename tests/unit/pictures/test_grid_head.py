"""The wrappers of grid and head: what travels, which texts they need, what they believe."""

from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from attnviz.pictures import grid, head
from attnviz.pictures.shared.buffer import quantise, unpack
from attnviz.pictures.shared.canvas import packed
from attnviz.pictures.shared.heads import HeadMeasure, HeadsView, Heard, Patches, Pooled, TokenAxis
from attnviz.pictures.shared.selection import (
    Extent,
    OpenRequest,
    Selection,
    parse_open,
    parse_selection,
)
from attnviz.tokens.words import Word

LAYERS, HEADS, TOKENS, KEYS = 2, 3, 5, 7
EXTENT = Extent(LAYERS, HEADS, TOKENS, TOKENS)
PLACE = {"layer": 1, "head": 2, "query": 4, "key": 0}


def axis(*labels: str) -> TokenAxis:
    """Tokens of which the first is special and the last one was written."""
    place = np.arange(len(labels))
    return TokenAxis(labels, place == 0, place == len(labels) - 1)


def example() -> HeadsView:
    scores = np.random.default_rng(55).normal(size=(LAYERS, HEADS, TOKENS, KEYS))
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    labels = ("[CLS]", "</script><img src=x>", "%{x}", "שלום", "[SEP]")
    keys = axis(*"abcdefg")
    sentences = tuple(tuple(f"L{i}.H{j} spreads" for j in range(HEADS)) for i in range(LAYERS))
    picture = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    patches = Patches(rows=1, columns=4, first=1, picture=picture)
    values = weights.astype(np.float32)
    numbers = np.arange(LAYERS * HEADS, dtype=np.float32).reshape(LAYERS, HEADS)
    numbers[0, 1] = np.nan
    measures = (HeadMeasure("entropy", "Entropy (bits)", "bits", numbers),)
    return HeadsView(
        model="minilm",
        queries=axis(*labels),
        keys=keys,
        cross=True,
        sentences=sentences,
        weights=values,
        patches=patches,
        measures=measures,
        visible=np.ones((LAYERS, TOKENS, KEYS), dtype=np.bool_),
        words=(Word("[CLS]", 0, 1, special=True), Word("</script><img src=x>%{x}", 1, 5)),
        key_words=(Word("a", 0, 1, special=True), Word("bcdefg", 1, 7)),
        heard=Heard(np.arange(42, dtype=np.uint8).reshape(3, 14), KEYS, step_s=0.02, seconds=0.1),
        pooled=Pooled(3, 14, 20),
    )


@pytest.mark.parametrize(("part", "bits"), [(grid, 8), (head, 16)], ids=["grid", "head"])
def test_a_buffer_holds_the_view(part: ModuleType, bits: int) -> None:
    view = replace(example(), small=part is grid)
    header, arrays = unpack(packed(part.CANVAS, view, "en"))
    assert (header["n_layers"], header["n_heads"]) == (LAYERS, HEADS)
    assert (header["n_query"], header["n_key"]) == (TOKENS, KEYS)
    assert header["tokens"] == list(view.queries.labels)
    assert header["key_tokens"] == list("abcdefg")
    assert (header["special"], header["written"]) == ([1, 0, 0, 0, 0], [0, 0, 0, 0, 1])
    assert header["key_special"] == [1, 0, 0, 0, 0, 0, 0]
    assert header["cross"] == 1
    assert header["sentences"][1][2] == "L1.H2 spreads"
    assert header["patches"] == {"rows": 1, "columns": 4, "first": 1}
    assert "visible" in arrays
    np.testing.assert_array_equal(arrays["patches.picture"], view.patches.picture)
    assert header["words"] == [["[CLS]", 0, 1, True], ["</script><img src=x>%{x}", 1, 5, False]]
    assert header["key_words"] == [["a", 0, 1, True], ["bcdefg", 1, 7, False]]
    assert header["measures"] == [{"name": "entropy", "label": "Entropy (bits)", "unit": "bits"}]
    np.testing.assert_array_equal(arrays["measured"], view.measures[0].values[None])
    expected = quantise(view.weights, 8) if bits == 8 else quantise(view.weights, 16)
    np.testing.assert_array_equal(arrays["weights"], expected)


def test_the_head_page_falls_back_to_eight_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    view = example()
    monkeypatch.setattr("attnviz.pictures.shared.heads.MAX_WIDE_BYTES", 2 * view.weights.size)
    assert unpack(packed(head.CANVAS, view, "en"))[1]["weights"].dtype == np.uint16
    monkeypatch.setattr("attnviz.pictures.shared.heads.MAX_WIDE_BYTES", 2 * view.weights.size - 1)
    assert unpack(packed(head.CANVAS, view, "en"))[1]["weights"].dtype == np.uint8


@pytest.mark.parametrize(("share", "causal"), [(1.0, False), (0.5, True)])
def test_the_overview_costs_one_byte_per_weight_and_five_percent(
    share: float, causal: bool
) -> None:
    tokens = 128
    weights = np.full((6, 12, tokens, tokens), 1 / tokens, np.float32)
    if causal:
        weights = np.tril(weights)
    sentences = tuple(
        ("looks at the previous token, 98 % of the mass " * 2,) * 12 for _ in range(6)
    )
    text = axis(*("token",) * tokens)
    view = HeadsView("minilm", text, text, False, sentences, weights, small=True)
    assert len(packed(grid.CANVAS, view, "ja")) <= 1.05 * share * weights.size


def test_a_selection_from_the_browser_is_believed_when_it_fits() -> None:
    sent = {**PLACE, "scale": "log", "special": "hide", "extra": "ignored"}
    assert parse_selection(sent, EXTENT) == Selection(1, 2, 4, 0, "log", "hide")
    assert parse_selection({"layer": 0, "head": 0}, EXTENT) == Selection(0, 0)


BAD_PLACES = [
    {"layer": 2},
    {"layer": -1},
    {"layer": None},
    {"layer": "1"},
    {"layer": True},
    {"layer": 1.0},
    {"head": 3},
    {"query": 5},
    {"query": "0"},
    {"key": -1},
    {"key": [0]},
]
BAD_VALUES = [None, 3, "x", [], {}, {"layer": 0}, {"head": 0}]


@pytest.mark.parametrize("bad", [*BAD_PLACES, {"scale": "cubic"}, {"scale": None}, {"special": 1}])
def test_a_selection_that_does_not_fit_is_dropped(bad: dict[str, object]) -> None:
    assert parse_selection({**PLACE, **bad}, EXTENT) is None


@pytest.mark.parametrize("bad", BAD_VALUES)
def test_what_is_no_selection_is_dropped(bad: object) -> None:
    assert parse_selection(bad, EXTENT) is None
    assert parse_open(bad, EXTENT) is None


def test_a_request_to_open_a_page_is_believed_when_it_fits() -> None:
    assert parse_open({**PLACE, "page": "steps"}, EXTENT) == OpenRequest("steps", 1, 2, 4, 0)


@pytest.mark.parametrize(
    "bad", [*BAD_PLACES, {"page": "admin"}, {"page": None}, {"page": ["head"]}]
)
def test_a_request_that_does_not_fit_is_dropped(bad: dict[str, object]) -> None:
    assert parse_open({"page": "head", **PLACE, **bad}, EXTENT) is None
