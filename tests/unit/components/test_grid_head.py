"""The wrappers of grid and head: what travels, which texts they need, what they believe."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import i18n
from attnviz.components import bundle, grid, head
from attnviz.components.buffer import quantise, unpack
from attnviz.components.heads import (
    HeadMeasure,
    HeadsView,
    Heard,
    Patches,
    Pooled,
    TokenAxis,
    pack_heads,
    strings_of,
    wide_bits,
)
from attnviz.components.selection import Extent, OpenRequest, Selection, parse_open, parse_selection
from attnviz.tokens.words import Word

LAYERS, HEADS, TOKENS, KEYS = 2, 3, 5, 7
EXTENT = Extent(LAYERS, HEADS, TOKENS, TOKENS)
PLACE = {"layer": 1, "head": 2, "query": 4, "key": 0}
PARTS = [(grid, grid.pack_grid, 8), (head, head.pack_head, 16)]


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


@pytest.mark.parametrize(("part", "packer", "bits"), PARTS, ids=["grid", "head"])
def test_a_buffer_holds_the_view(part: object, packer: Callable[..., bytes], bits: int) -> None:
    view = example()
    header, arrays = unpack(packer(view, {"hint": "x"}))
    assert header["strings"] == {"hint": "x"}
    assert (header["n_layers"], header["n_heads"]) == (LAYERS, HEADS)
    assert (header["n_query"], header["n_key"]) == (TOKENS, KEYS)
    assert header["tokens"] == list(view.queries.labels)
    assert header["key_tokens"] == list("abcdefg")
    assert (header["special"], header["written"]) == ([1, 0, 0, 0, 0], [0, 0, 0, 0, 1])
    assert header["key_special"] == [1, 0, 0, 0, 0, 0, 0]
    assert header["cross"] == 1
    assert header["sentences"][1][2] == "L1.H2 spreads"
    assert header["patches"] == {"rows": 1, "columns": 4, "first": 1}
    assert ("visible" in arrays) == (part is head)
    np.testing.assert_array_equal(arrays["picture"], view.patches.picture)
    assert header["words"] == [[0, 1, "[CLS]"], [1, 5, "</script><img src=x>%{x}"]]
    assert header["key_words"] == [[0, 1, "a"], [1, 7, "bcdefg"]]
    assert header["measures"] == [{"name": "entropy", "label": "Entropy (bits)", "unit": "bits"}]
    np.testing.assert_array_equal(arrays["measures"], view.measures[0].values[None])
    expected = quantise(view.weights, 8) if bits == 8 else quantise(view.weights, 16)
    np.testing.assert_array_equal(arrays["weights"], expected)


@pytest.mark.parametrize(("part", "packer", "bits"), PARTS, ids=["grid", "head"])
def test_demo_json_is_the_header_that_travels(
    part: object, packer: Callable[..., bytes], bits: int
) -> None:
    name = part.__name__.rpartition(".")[2]  # type: ignore[attr-defined]
    keys = part.STRING_KEYS  # type: ignore[attr-defined]
    data = packer(example(), strings_of(keys, lambda key: key))
    start = 4 + int.from_bytes(data[:4], "little")
    demo = json.loads((bundle.FOLDER / name / "demo.json").read_text(encoding="utf-8"))
    assert json.loads(data[4:start]) == demo


def test_the_head_page_falls_back_to_eight_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    view = example()
    monkeypatch.setattr("attnviz.components.heads.MAX_WIDE_BYTES", 2 * view.weights.size)
    assert wide_bits(view) == 16
    monkeypatch.setattr("attnviz.components.heads.MAX_WIDE_BYTES", 2 * view.weights.size - 1)
    assert wide_bits(view) == 8


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
    view = HeadsView("minilm", text, text, False, sentences, weights)
    strings = strings_of(grid.STRING_KEYS, lambda key: i18n.section("ja", "component")[key[10:]])
    assert len(pack_heads(view, strings, 8)) <= 1.05 * share * weights.size


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


def app_of_grid() -> None:
    import streamlit as st  # the function runs as a script of its own

    from attnviz.components.selection import Extent
    from attnviz.ui.host.components import show_grid

    st.text(repr(show_grid(b"\0\0\0\0", Extent(1, 1, 1, 1))))


def app_of_head() -> None:
    import streamlit as st  # the function runs as a script of its own

    from attnviz.components.selection import Extent
    from attnviz.ui.host.components import show_head

    st.text(repr(show_head(b"\0\0\0\0", Extent(1, 1, 1, 1))))


@pytest.mark.parametrize(("app", "name"), [(app_of_grid, grid.NAME), (app_of_head, head.NAME)])
def test_a_component_mounts_with_its_bytes(app: Callable[[], None], name: str) -> None:
    ran = AppTest.from_function(app).run()
    assert not ran.exception
    (mounted,) = ran.get("bidi_component")
    assert mounted.proto.component_name == name
    assert mounted.proto.bytes == b"\0\0\0\0"
    assert f"components.{name.removeprefix('attnviz.')}" in mounted.proto.js_content
    assert ran.text[0].value == "ComponentResult(selection=None, open=None)"


def test_components_do_not_register_on_import(root: Path) -> None:
    for name in ("grid", "head"):
        source = (root / "attnviz" / "components" / name / "__init__.py").read_text()
        assert not re.search(r"^\S.*st\.components\.v2\.component\(", source, re.MULTILINE)
