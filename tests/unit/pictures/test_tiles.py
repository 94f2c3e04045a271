"""The wrapper of tiles: what travels, which texts it needs, what it believes of the browser."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz import tiles as library
from attnviz.pictures import tiles
from attnviz.pictures.shared import bundle
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed
from attnviz.pictures.shared.heads import Axes, Heard, TokenAxis
from attnviz.pictures.shared.selection import Extent
from attnviz.pictures.tiles import TilesData, Want, parse_want

SIDE = tiles.SIDE
EXTENT = Extent(2, 3, 300, 701)
LABELS = ("</script><img src=x>", "%{x}", "שלום")


def axis(n: int) -> TokenAxis:
    labels = tuple(LABELS[i % 3] for i in range(n))
    return TokenAxis(labels, np.zeros(n, dtype=np.bool_), np.arange(n) == n - 1)


def some_data() -> TilesData:
    codes = np.zeros((SIDE, SIDE), dtype=np.uint8)
    exact = np.zeros((SIDE, SIDE), dtype=np.float32)
    codes[3, 5], exact[7, 11] = 200, 0.123456789
    return TilesData(
        stamp="head",
        axes_stamp="text",
        axes=Axes.of(axis(3), axis(3), cross=True),
        cross=True,
        layer=1,
        head=2,
        extent=EXTENT,
        top=2,
        ready=True,
        want=Want(number=4, stamp="head", tiles=((1, 0, 1), (2, 0, 0), (0, 1, 2)), cell=(7, 11)),
        codes={(1, 0, 1): codes, (2, 0, 0): np.zeros_like(codes)},
        exact={(0, 1, 2): exact},
        cells=((7, 500, 0.5), (2, 600, 0.25)),
        weight=0.125,
        heard=Heard(np.full((2, 6), 7, np.uint8), 3, step_s=0.02, seconds=0.05),
    )


def test_tiles_travel_by_name_and_empty_ones_by_name_only() -> None:
    header, arrays = unpack(packed(tiles.CANVAS, some_data(), "en"))
    assert set(arrays) == {"1/0/1", "0/1/2", "heard.levels"}
    assert arrays["heard.levels"].shape == (2, 6)
    assert arrays["1/0/1"].dtype == np.uint8 and arrays["1/0/1"][3, 5] == 200
    assert arrays["0/1/2"].dtype == np.float32
    assert arrays["0/1/2"][7, 11] == np.float32(0.123456789)
    assert header["empty"] == [[2, 0, 0]]
    assert header["cells"] == [[7, 500, 0.5], [2, 600, 0.25]]
    assert header["pinned"] == [7, 11, 0.125]
    assert header["number"] == 4
    assert header["distances"] == [2, 16, 128]  # 1,024 would be farther than the text is long


def test_names_of_tokens_travel_only_where_they_are_wanted() -> None:
    with_names = packed(tiles.CANVAS, some_data(), "en")
    header, _ = unpack(packed(tiles.CANVAS, replace(some_data(), axes=None), "en"))
    assert header["axes"] is None
    assert unpack(with_names)[0]["axes"]["tokens"] == list(LABELS)


def test_javascript_and_the_library_mean_the_same_codes() -> None:
    source = (bundle.FOLDER / "tiles" / "store.js").read_text(encoding="utf-8")
    assert f"const OCTAVES = {library.OCTAVES};" in source
    assert "2 ** (OCTAVES * (code / 255 - 1))" in source
    assert library.decoded(np.array([0, 51, 255], np.uint8)).tolist() == pytest.approx(
        [0, 2 ** (24 * (51 / 255 - 1)), 1]
    )
    camera = (bundle.FOLDER / "tiles" / "camera.js").read_text(encoding="utf-8")
    assert f"const TILE = {library.TILE};" in camera and library.TILE == tiles.SIDE


GOOD = {
    "number": 3,
    "stamp": "head",
    "axes": "text",
    "distance": 128,
    "tiles": [[0, 1, 2], [2, 0, 0]],
    "cell": [299, 700],
}


def test_what_the_browser_wants_is_taken_as_it_is() -> None:
    assert parse_want(GOOD, EXTENT) == Want(
        3, "head", "text", ((0, 1, 2), (2, 0, 0)), 128, (299, 700)
    )


@pytest.mark.parametrize("value", [None, 3, "want", [], [[0, 0, 0]]])
def test_nonsense_wants_nothing(value: object) -> None:
    assert parse_want(value, EXTENT) == Want()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"number": -1}, {"number": 0}),
        ({"number": True}, {"number": 0}),
        ({"number": "7"}, {"number": 0}),
        ({"stamp": 5}, {"stamp": ""}),
        ({"stamp": "x" * 500}, {"stamp": "x" * 80}),
        ({"distance": 3}, {"distance": tiles.DISTANCE}),
        ({"distance": [16]}, {"distance": tiles.DISTANCE}),
        ({"tiles": "0/0/0"}, {"tiles": ()}),
        ({"tiles": [[0, 1], [0, 1, -2], [0, 1, 1.5], [9, 9, 9], None]}, {"tiles": ((9, 9, 9),)}),
        ({"tiles": [[0, 0, 0]] * 3}, {"tiles": ((0, 0, 0),)}),
        ({"cell": [300, 0]}, {"cell": None}),
        ({"cell": [0, 701]}, {"cell": None}),
        ({"cell": [0]}, {"cell": None}),
        ({"cell": {"query": 0}}, {"cell": None}),
    ],
)
def test_each_part_is_checked(change: dict[str, Any], expected: dict[str, Any]) -> None:
    assert parse_want(GOOD | change, EXTENT) == replace(parse_want(GOOD, EXTENT), **expected)


def test_no_more_tiles_than_an_answer_holds() -> None:
    many = [[0, row, 0] for row in range(1000)]
    assert len(parse_want(GOOD | {"tiles": many}, EXTENT).tiles) == tiles.MAX_TILES
