"""`Comparison`: an error of just the tolerance is explained, NaN and infinity never are."""

import math

import pytest

from attnviz.attention.verification import Comparison


@pytest.mark.parametrize(
    ("error", "tolerance", "ok", "excess"),
    [
        (0.25, 0.5, True, 0.5),
        (0.5, 0.5, True, 1.0),
        (0.75, 0.5, False, 1.5),
        (math.nan, 0.5, False, math.inf),
        (math.inf, 0.5, False, math.inf),
    ],
)
def test_ok_and_excess_agree_up_to_the_tolerance(
    error: float, tolerance: float, ok: bool, excess: float
) -> None:
    comparison = Comparison("module#0", "mixed", error, tolerance)
    assert (comparison.ok, comparison.excess) == (ok, excess)


def test_zero_equals_zero_and_nothing_else_without_a_tolerance() -> None:
    assert Comparison("module#0", "mixed", 0.0, 0.0).ok
    assert not Comparison("module#0", "mixed", 1e-30, 0.0).ok
