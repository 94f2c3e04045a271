"""`exact` prints an answer with the digits that its tolerance asks for, within bounds."""

import pytest

from attnviz.teach.lessons.paper.worksheet import MAX_DECIMALS, exact


@pytest.mark.parametrize(
    ("answer", "tolerance", "printed"),
    [(0.8909, 0.006, "0.891"), (64, 0.5, "64"), (2.5, 0.5, "2.5"), (12.34, 50.0, "12")],
)
def test_exact_has_the_digits_of_the_tolerance(
    answer: float, tolerance: float, printed: str
) -> None:
    assert exact(answer, tolerance) == printed


@pytest.mark.parametrize("tolerance", [0.0, 1e-12])
def test_exact_prints_no_more_digits_than_are_read(tolerance: float) -> None:
    assert len(exact(1 / 3, tolerance).partition(".")[2]) == MAX_DECIMALS
