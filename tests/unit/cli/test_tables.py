"""`tables`: columns stand under one another, however wide their characters are."""

import pytest

from attnviz.cli import output


@pytest.mark.parametrize(
    ("text", "n_cells"),
    [("cat", 3), ("猫", 2), ("ねこ", 4), ("고양이", 6), ("", 0), ("e\u0301", 1), ("👩‍👩‍👧", 2)],
)
def test_width_counts_cells_and_not_characters(text: str, n_cells: int) -> None:
    assert output.width(text) == n_cells


def test_columns_stand_under_one_another() -> None:
    lines = output.columns([("", "猫", "b"), ("猫が", "0.25", "0.75"), ("c", "1.00", "0.00")])
    assert lines.splitlines() == ["      猫    b", "猫が  0.25  0.75", "c     1.00  0.00"]


def test_weights_are_a_row_for_each_query() -> None:
    lines = output.weights(["a", "b"], ["猫", "c"], [[0.25, 0.75], [1.0, 0.0]])
    assert lines.splitlines() == ["   猫    c", "a  0.25  0.75", "b  1.00  0.00"]


def test_strongest_lists_three_keys_in_order() -> None:
    lines = output.strongest(["a"], ["j", "k", "l", "m"], [[0.1, 0.4, 0.2, 0.3]])
    assert lines.splitlines() == ["query  key 1   key 2   key 3", "a      k 0.40  m 0.30  l 0.20"]
