"""The geometry: what travels, which texts it needs, and what the browser may send back."""

import numpy as np
import pytest

from attnviz.pictures import geometry
from attnviz.pictures.geometry import (
    DEFAULT_TURNS,
    DEFAULT_VECTORS,
    Frequencies,
    GeometryChoice,
    GeometryView,
    HeadPlane,
    checked,
)
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed
from tests.support.hostile import SCRIPT, TEXT

PLANE = HeadPlane(
    layer=1,
    head=2,
    n_layers=3,
    n_heads=5,
    query=1,
    tokens=("it", SCRIPT),
    key_tokens=("it", "was", "wide"),
    query_at=(1, 4),
    queries=np.array([[1, 0.5], [0, 2]], np.float32),
    keys=np.array([[1, 0], [0, 1], [-1, -1]], np.float32),
    weights=np.array([[1, 0, 0], [0.5, 0.25, 0.25]], np.float32),
    may=np.array([[1, 0, 0], [1, 1, 1]], np.bool_),
    share=0.75,
    median=None,
    n_measured=0,
    turned=True,
    cut=False,
)
VIEW = GeometryView(GeometryChoice("head"), Frequencies((1.0, 0.01), own=True), PLANE)


def test_pack_geometry_keeps_places_and_hostile_tokens() -> None:
    header, arrays = unpack(packed(geometry.CANVAS, VIEW, "en"))
    assert (header["plane"]["tokens"][1], header["plane"]["median"]) == (SCRIPT, None)
    for name in ("queries", "keys", "weights"):
        np.testing.assert_array_equal(arrays[f"plane.{name}"], getattr(PLANE, name))
    np.testing.assert_array_equal(arrays["plane.may"], PLANE.may)
    alone, none = unpack(
        packed(geometry.CANVAS, GeometryView(GeometryChoice(), VIEW.frequencies, None, "why"), "en")
    )
    assert (alone["plane"], alone["reason"], none) == (None, "why", {})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("tab", tab) for tab in geometry.TABS),
        ("vectors", DEFAULT_VECTORS),
        ("vectors", "3,-3/0,0,0.25,-1.5"),
        ("turns", DEFAULT_TURNS),
        ("turns", "512.0.31"),
    ],
)
def test_checked_takes_what_an_address_holds(name: str, value: str) -> None:
    assert checked(name, value) == (value, True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            (name, nonsense)
            for name in ("tab", "vectors", "turns")
            for nonsense in (None, 3, "", TEXT)
        ),
        ("vectors", "1,1"),
        ("vectors", "1,1/1,1,1"),
        ("vectors", "1,1/1,1,1,3.01"),
        ("vectors", "1,1/1,1,1,nan"),
        ("vectors", "1,1/1,1,1,1e1"),
        ("vectors", "1,1" + "/1,1,1,1" * 7),
        ("turns", "1.2"),
        ("turns", "513.0.0"),
        ("turns", "-1.0.0"),
    ],
)
def test_checked_refuses_nonsense(name: str, value: object) -> None:
    assert checked(name, value) == (None, False)
