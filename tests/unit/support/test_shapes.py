"""`shapes`: the rooms that name axes are checked, those that handle texts are not."""

import re

import numpy as np
import pytest
from beartype import beartype
from jaxtyping import Float, TypeCheckError

from attnviz import i18n
from attnviz.attention import formula
from attnviz.capture.locate import layers
from attnviz.types import HeadId, Tokens
from tests.support import shapes

SHAPE = re.compile(r"^from jaxtyping import", re.MULTILINE)
MAX_SHAPES_UNCHECKED = 4


def test_every_room_is_checked_or_named_as_unchecked() -> None:
    rooms = {name.removeprefix("attnviz.") for name in shapes.checked_rooms()}
    assert {"attention", "metrics", "pictures", "types"} <= rooms
    assert not rooms & shapes.UNCHECKED
    for room in shapes.UNCHECKED:
        assert (shapes.ATTNVIZ / room).is_dir() or (shapes.ATTNVIZ / f"{room}.py").is_file(), room


def test_few_files_of_the_unchecked_rooms_name_axes() -> None:
    naming = [
        path
        for room in sorted(shapes.UNCHECKED)
        for path in (shapes.ATTNVIZ / room).rglob("*.py")
        if SHAPE.search(path.read_text(encoding="utf-8"))
    ]
    assert len(naming) <= MAX_SHAPES_UNCHECKED, naming


@pytest.mark.parametrize(
    ("function", "checked"),
    [
        (formula.scores, True),
        (Tokens.__init__, True),
        (layers.storage_of, False),  # of any tensor
        (HeadId.parse, False),
        (i18n.text, False),
    ],
)
def test_only_what_names_axes_pays_for_checks(function: object, checked: bool) -> None:
    assert hasattr(function, "__wrapped__") == checked


def _scaled(values: Float[np.ndarray, "rows cols"], turn: bool) -> Float[np.ndarray, "rows cols"]:
    _runs.append(values.shape)
    return values.T if turn else values


_runs: list[tuple[int, ...]] = []


def test_what_is_new_in_a_call_is_checked_and_nothing_runs_twice() -> None:
    scaled = shapes._jaxtyped_if_of_axes(_scaled, typechecker=beartype)
    _runs.clear()
    square, wide = np.ones((3, 3)), np.ones((3, 5))
    assert scaled(square, True).shape == scaled(square, False).shape == (3, 3)
    assert scaled(wide, False).shape == (3, 5)
    with pytest.raises(TypeCheckError):
        scaled(wide, True)  # the same arguments for a check, but another result
    assert scaled(wide, False).shape == (3, 5)
    with pytest.raises(TypeCheckError):
        scaled(np.ones(3), False)
    with pytest.raises(TypeCheckError):
        scaled(square.astype(np.int64), False)
    assert _runs == [(3, 3), (3, 3), (3, 5), (3, 5), (3, 5)]


def test_calls_are_of_one_kind_if_a_check_sees_no_difference() -> None:
    one, other = np.ones((2, 3)), np.zeros((2, 3))
    assert shapes.kind((one, 1, "a")) == shapes.kind((other, 2, "b"))
    differing = [one, one.T, one.astype(np.float32), [one], (one,), {"a": one}, "a", 1, 1.0]
    assert len({shapes.kind(each) for each in differing}) == len(differing)
