"""`views.switchboard`: numbers of an answer that moved by very little."""

import pytest

from attnviz.views.switchboard import amount, cosine


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0.0000"), (2e-5, "<0.0001"), (0.0123, "0.0123"), (0.00006, "0.0001")],
)
def test_a_small_move_is_not_printed_as_none(value: float, shown: str) -> None:
    assert amount("en", value, "number") == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(1.0, "1.0000"), (0.99998, ">0.9999"), (0.9912, "0.9912")]
)
def test_a_cosine_below_one_is_not_printed_as_one(value: float, shown: str) -> None:
    assert cosine(value) == shown
