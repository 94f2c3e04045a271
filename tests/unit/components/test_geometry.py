"""The geometry: what travels, which texts it needs, and what the browser may send back."""

import json
import re

import numpy as np
import pytest

from attnviz.components import bundle, geometry
from attnviz.components.buffer import unpack
from attnviz.components.geometry import (
    DEFAULT_TURNS,
    DEFAULT_VECTORS,
    Frequencies,
    GeometryChoice,
    GeometryView,
    HeadPlane,
    checked,
    pack_geometry,
)
from attnviz.components.heads import strings_of
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
    median=float("nan"),
    n_measured=0,
    turned=True,
    cut=False,
)
VIEW = GeometryView(GeometryChoice("head"), Frequencies((1.0, 0.01), own=True), PLANE)


def test_demo_json_is_the_header_that_travels() -> None:
    data = pack_geometry(VIEW, strings_of(geometry.STRING_KEYS, lambda key: key))
    demo = json.loads((bundle.FOLDER / "geometry" / "demo.json").read_text(encoding="utf-8"))
    assert json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")]) == demo


def test_pack_geometry_keeps_places_and_hostile_tokens() -> None:
    header, arrays = unpack(pack_geometry(VIEW, {}))
    assert (header["head"]["tokens"][1], header["head"]["median"]) == (SCRIPT, None)
    for name in ("queries", "keys", "weights"):
        np.testing.assert_array_equal(arrays[name], getattr(PLANE, name))
    np.testing.assert_array_equal(arrays["may"], PLANE.may)
    alone, none = unpack(
        pack_geometry(GeometryView(GeometryChoice(), VIEW.frequencies, None, "why"), {})
    )
    assert (alone["head"], alone["reason"], none) == (None, "why", {})


def test_every_text_of_the_geometry_is_used() -> None:
    sources = [path.read_text("utf-8") for path in (bundle.FOLDER / "geometry").glob("*.js")]
    used = set(re.findall(r"strings\.(\w+)", "".join(sources)))
    names = {key.rpartition(".")[2] for key in geometry.STRING_KEYS if "geometry." in key}
    assert {name for name in names if not name.startswith("tab_")} == used - {"layer", "head"}


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
