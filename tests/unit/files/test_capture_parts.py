"""The parts of a capture file that say where tokens are in a picture."""

from typing import Any

import pytest

from attnviz.files.capture_file import parts
from attnviz.notation.json_fields import Field, Malformed


def places(*cells: Any) -> dict[str, Any]:
    """Two rows and three columns of tokens in a picture of 4 by 6 patches."""
    rows, columns = [[0, 2], [2, 4]], [[0, 2], [2, 4], [4, 6]]
    return {"grid": [4, 6], "rows": rows, "columns": columns, "cells": [list(cells)]}


def test_places_are_read_as_they_were_written() -> None:
    read = parts.places(Field(places([0, 0], [1, 2], None), ""), 3, 1)
    assert read is not None and read.cells == (((0, 0), (1, 2), None),)
    assert parts.places_json(read) == places([0, 0], [1, 2], None)


@pytest.mark.parametrize("cell", [[2, 0], [0, 3], [-1, 0], [0, -1]])
def test_a_cell_outside_of_the_rows_or_columns_is_refused(cell: list[int]) -> None:
    with pytest.raises(Malformed):
        parts.places(Field(places([0, 0], cell), ""), 2, 1)
