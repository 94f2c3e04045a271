"""`HeadTable`: columns, sorting, and what pandas would take."""

import json
from typing import Any

import numpy as np
import pytest

from attnviz.errors import BadInput
from attnviz.metrics import HeadTable
from attnviz.metrics.table import as_measures, by_text
from attnviz.types import HeadId
from tests.support.shapes import unchecked


@pytest.fixture
def table() -> HeadTable:
    return HeadTable(
        {
            "stack": np.array(["", "", "", ""]),
            "kind": np.array(["self"] * 4),
            "layer": np.array([0, 0, 1, 1]),
            "head": np.array([0, 1, 0, 2]),
            "induction": np.array([0.25, np.nan, 0.75, 0.5], dtype=np.float32),
        }
    )


def test_sort_puts_the_largest_first_and_nan_last(table: HeadTable) -> None:
    assert table.sort("induction")["induction"].tolist()[:3] == [0.75, 0.5, 0.25]
    assert np.isnan(table.sort("induction")["induction"][3])
    rising = table.sort("induction", descending=False)
    assert rising["induction"].tolist()[:3] == [0.25, 0.5, 0.75]
    assert np.isnan(rising["induction"][3])
    assert table.sort("induction", n=2).heads == (HeadId(1, 0), HeadId(1, 2))
    assert table["induction"][0] == 0.25, "the table itself keeps its order"


def test_grid_puts_a_measure_at_its_layer_and_head(table: HeadTable) -> None:
    expected = [[0.25, np.nan, np.nan], [0.75, np.nan, 0.5]]
    np.testing.assert_array_equal(table.grid("induction"), expected)
    twice = HeadTable({name: np.tile(column, 2) for name, column in table.columns.items()})
    with pytest.raises(BadInput, match="several rows for one layer and head"):
        twice.grid("induction")


def test_to_dict_has_plain_values(table: HeadTable) -> None:
    columns = table.to_dict()
    assert columns["layer"] == [0, 0, 1, 1]
    assert json.loads(json.dumps(columns["kind"])) == ["self"] * 4
    assert {type(value) for values in columns.values() for value in values} == {int, float, str}


def test_a_column_or_measure_that_does_not_exist_is_refused(table: HeadTable) -> None:
    with pytest.raises(BadInput, match="column is 'entropy'; give one of stack, kind, layer, head"):
        table["entropy"]
    with pytest.raises(BadInput, match="column is 'x'"):
        table.sort("x")


def test_print_shows_the_numbers_of_the_first_rows(table: HeadTable) -> None:
    header, *rows = str(table).splitlines()
    assert header.split() == ["kind", "layer", "head", "induction"]
    assert [row.split() for row in rows] == [
        ["self", str(head.layer), str(head.head), f"{value:.3f}"]
        for head, value in zip(table.heads, table["induction"].tolist(), strict=True)
    ]
    assert len({len(line) for line in (header, *rows)}) == 1
    columns = {"head": np.arange(40), "layer": np.zeros(40, np.int64)}
    assert str(HeadTable(columns)).splitlines()[-2:] == ["  11      0", "… 28 more rows"]


def test_repr_is_one_line(table: HeadTable) -> None:
    assert repr(table) == "HeadTable of 4 heads: stack kind layer head induction"


def test_tables_of_several_texts_are_rows_of_one(table: HeadTable) -> None:
    both = by_text([table, table.sort("induction")])
    assert both["text"].tolist() == [0] * 4 + [1] * 4
    assert both.measures == ("induction",)
    assert both["induction"][4:7].tolist() == [0.75, 0.5, 0.25]
    with pytest.raises(BadInput, match="a row for each text and head; make it without by_text"):
        both.grid("induction")


def test_one_measure_is_named_by_its_text() -> None:
    assert as_measures("entropy") == ("entropy",)
    assert as_measures(["entropy", "previous"]) == ("entropy", "previous")
    unknown: Any = "entropie"
    with unchecked(), pytest.raises(BadInput, match="measure is 'entropie'; give one of previous"):
        as_measures(unknown)
