"""The wrapper of Compare: what travels, and what it believes."""

from dataclasses import replace

import numpy as np
import pytest

from attnviz.compare import Slot
from attnviz.pictures import pair
from attnviz.pictures.pair import PairView, SideView, parse_other
from attnviz.pictures.shared.buffer import quantise, unpack
from attnviz.pictures.shared.canvas import packed
from attnviz.pictures.shared.heads import TokenAxis
from attnviz.pictures.shared.selection import Extent

LAYERS, HEADS = 2, 3
OTHER = Extent(2, 3, 5, 5)


def side(labels: tuple[str, ...], at: tuple[int, ...], seed: int) -> SideView:
    n = len(labels)
    none = np.zeros(n, dtype=np.bool_)
    axis = TokenAxis(labels, special=np.arange(n) == 0, written=none)
    weights = np.random.default_rng(seed).dirichlet(np.ones(n), size=(LAYERS, HEADS, n))
    extent = Extent(LAYERS, HEADS, at[-1] + 1, at[-1] + 1)
    return SideView("minilm", axis, axis, False, at, at, extent, weights.astype(np.float32))


def view() -> PairView:
    slots = (Slot(0, 0, True), Slot(1, 1), Slot(2, None), Slot(None, 2))
    return PairView(
        a=side(("[CLS]", "</script><img src=x>", "%{x}"), (0, 1, 2), 5),
        b=side(("[CLS]", "שלום", "cat"), (0, 1, 4), 7),
        rows=slots,
        cols=slots,
        cross=False,
        merged=True,
        alike=True,
        only_heads_differ=False,
        moved_rows=np.array([[[0, 0.5, np.nan, np.nan]] * HEADS] * LAYERS, dtype=np.float32),
    )


def test_a_buffer_holds_both_sides_and_their_common_axes() -> None:
    shown = view()
    header, arrays = unpack(packed(pair.CANVAS, shown, "en"))
    assert header["a"]["tokens"] == list(shown.a.queries.labels)
    assert header["b"]["at_query"] == [0, 1, 4]
    assert (header["b"]["n_layers"], header["b"]["n_heads"]) == (LAYERS, HEADS)
    assert (header["b"]["n_query"], header["b"]["n_key"]) == (5, 5)
    assert header["rows"] == [[0, 0, 1], [1, 1, 0], [2, -1, 0], [-1, 2, 0]]
    np.testing.assert_array_equal(arrays["weights_a"], shown.a.weights)
    np.testing.assert_array_equal(arrays["weights_b"], shown.b.weights)
    assert arrays["moved"].tolist() == [[0.25] * HEADS] * LAYERS
    np.testing.assert_array_equal(arrays["moved_rows"], shown.moved_rows)


def test_what_says_nothing_about_heads_does_not_travel() -> None:
    _, arrays = unpack(packed(pair.CANVAS, replace(view(), moved_rows=None), "en"))
    assert set(arrays) == {"weights_a", "weights_b"}


@pytest.mark.parametrize(("exact", "wide", "bits"), [(0, 10**6, 16), (0, 0, 8)])
def test_many_weights_travel_as_square_roots(
    monkeypatch: pytest.MonkeyPatch, exact: int, wide: int, bits: int
) -> None:
    monkeypatch.setattr(pair, "MAX_EXACT_BYTES", exact)
    monkeypatch.setattr(pair, "MAX_WIDE_BYTES", wide)
    _, arrays = unpack(packed(pair.CANVAS, view(), "en"))
    expected = quantise(view().b.weights, 16 if bits == 16 else 8)
    np.testing.assert_array_equal(arrays["weights_b"], expected)


@pytest.mark.parametrize("more", [{"layer_b": "1", "head_b": "2"}, {"layer_b": 1, "head_b": 2}])
def test_the_right_head_is_believed_when_it_fits(more: object) -> None:
    assert parse_other(more, OTHER) == {"layer_b": 1, "head_b": 2}


@pytest.mark.parametrize(
    ("more", "query", "key"),
    [
        ({"query_b": "1", "key_b": "2"}, 1, 2),
        ({"query_b": None, "key_b": "0"}, None, 0),
        ({"query_b": str(OTHER.n_query), "key_b": str(OTHER.n_key)}, None, None),
        ({"query_b": "-1", "key_b": [1]}, None, None),
        (None, None, None),
    ],
)
def test_a_cell_of_the_right_side_is_believed_when_it_fits(
    more: object, query: int | None, key: int | None
) -> None:
    assert pair.parse_other_cell(more, OTHER) == {"query_b": query, "key_b": key}


@pytest.mark.parametrize(
    "more",
    [
        None,
        [],
        {},
        {"layer_b": "1"},
        {"layer_b": "2", "head_b": "0"},
        {"layer_b": "0", "head_b": "3"},
        {"layer_b": "-1", "head_b": "0"},
        {"layer_b": [1], "head_b": {}},
    ],
)
def test_else_the_right_head_is_as_on_the_left(more: object) -> None:
    assert parse_other(more, OTHER) == {"layer_b": None, "head_b": None}
