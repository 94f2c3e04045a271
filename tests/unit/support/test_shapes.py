"""`shapes`: the rooms that name axes are checked, those that handle texts are not."""

import re

import pytest

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
