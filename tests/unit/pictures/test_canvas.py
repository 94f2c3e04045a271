"""The packer: fields travel as they are called, arrays apart, and markers say what is otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pytest
from jaxtyping import Bool, Float32

from attnviz import i18n
from attnviz.pictures.shared.buffer import quantise, unpack
from attnviz.pictures.shared.canvas import (
    INLINE,
    LISTED,
    LOCAL,
    ROWS,
    Canvas,
    Encoded,
    Prefix,
    derived,
    packed,
    parts_of,
    roots,
    texts,
)
from scripts.write_canvas_types import TypesFile


@dataclass(frozen=True)
class Slot:
    place: int | None
    text: str


@dataclass(frozen=True)
class Size:
    rows: int


@dataclass(frozen=True, eq=False)
class Group:
    """Part of a view."""

    title: str
    weights: Annotated[Float32[np.ndarray, "row column"], roots(8)]
    effects: Float32[np.ndarray, " row"] | None = None


@dataclass(frozen=True, eq=False)
class Shown:
    """A view with every form of a field."""

    title: str
    size: Annotated[Size, INLINE]
    secret: Annotated[str, LOCAL]
    special: Annotated[Bool[np.ndarray, " row"], LISTED]
    slots: Annotated[tuple[Slot, ...], ROWS]
    groups: tuple[Group, ...]
    best: Group | None
    side: Literal["q", "k"]
    may: Bool[np.ndarray, " row"]
    stages: Annotated[Mapping[str, Float32[np.ndarray, " row"]], Prefix("was_")]
    doubled: Annotated[
        Float32[np.ndarray, " row"], Encoded(lambda view, rows: view.size.rows * rows, exact=True)
    ]

    @derived
    def n_groups(self) -> int:
        """The number of groups."""
        return len(self.groups)


ROW = np.array([0.25, 1.0], np.float32)
WEIGHTS = np.array([[0.25, 1.0]], np.float32)
VIEW = Shown(
    title="</script>",
    size=Size(3),
    secret="stays",
    special=np.array([True, False]),
    slots=(Slot(2, "a"), Slot(None, "b")),
    groups=(Group("one", WEIGHTS), Group("two", WEIGHTS, ROW)),
    best=None,
    side="k",
    may=np.array([True, False]),
    stages={"q": ROW},
    doubled=ROW,
)
CANVAS = Canvas("bars", (Shown,))


def test_packed_sends_each_field_under_its_name() -> None:
    header, arrays = unpack(packed(CANVAS, VIEW, "en"))
    assert {name: value for name, value in header.items() if name != "strings"} == {
        "title": "</script>",
        "rows": 3,
        "special": [1, 0],
        "slots": [[2, "a"], [-1, "b"]],
        "groups": [{"title": "one"}, {"title": "two"}],
        "best": None,
        "side": "k",
        "n_groups": 2,
    }
    assert {name: array.tolist() for name, array in arrays.items()} == {
        "groups.0.weights": quantise(WEIGHTS, 8).tolist(),
        "groups.1.weights": quantise(WEIGHTS, 8).tolist(),
        "groups.1.effects": ROW.tolist(),
        "may": [1, 0],
        "was_q": ROW.tolist(),
        "doubled": (3 * ROW).tolist(),
    }


def test_packed_refuses_two_arrays_of_one_name() -> None:
    @dataclass(frozen=True, eq=False)
    class Twice:
        q: Float32[np.ndarray, " row"]
        stages: Mapping[str, Float32[np.ndarray, " row"]]

    with pytest.raises(AssertionError, match="two arrays are called q"):
        packed(Canvas("bars", (Twice,)), Twice(ROW, {"q": ROW}), "en")


def test_texts_are_those_below_the_name_and_the_shared_ones() -> None:
    found = texts("circuit", "ja")
    assert found["hint"] == i18n.text("ja", "component.circuit.hint")
    assert found["query_axis"] == i18n.text("ja", "component.shared.query_axis")
    assert found["head"] == i18n.catalogue("ja")["component.circuit.head"], "its own come first"
    assert "film_q" not in found


def test_types_are_those_of_what_travels() -> None:
    file = TypesFile("bars/types")
    file.interface(Shown, "Header", strings=True)
    declared = file.declared["Header"]
    sent = {part.name for part in parts_of(Shown)} - {"size", "may", "stages", "doubled"}
    assert all(f"  {name}: " in declared for name in sent)
    assert "secret" not in declared and "extends Size" in declared
    assert '"q" | "k"' in declared and "best: Group | null;" in declared
    assert file.declared["Slot"].endswith("Slot = [place: number, text: string];\n")
    arrays = file.arrays(Shown)
    assert "[array: `groups.${number}.weights`]: PackedArray;" in arrays
    assert "doubled: FloatArray;" in arrays and "may: PackedArray;" in arrays
