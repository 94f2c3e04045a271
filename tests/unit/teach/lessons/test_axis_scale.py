"""`AxisScale` of charts on paper: positions and ticks, also of an axis without a length."""

import pytest

from attnviz.teach.lessons.paper.pictures import AxisScale


@pytest.mark.parametrize(
    ("log", "low", "high", "middle"), [(False, 2.0, 6.0, 4.0), (True, 1.0, 100.0, 10.0)]
)
def test_position_goes_from_start_to_stop(
    log: bool, low: float, high: float, middle: float
) -> None:
    scale = AxisScale(low, high, 30.0, 70.0, log)
    assert [scale.position(value) for value in (low, middle, high)] == [30.0, 50.0, 70.0]


@pytest.mark.parametrize("log", [False, True])
def test_one_number_alone_stands_in_the_middle(log: bool) -> None:
    assert AxisScale(8.0, 8.0, 30.0, 70.0, log).position(8.0) == 50.0


def test_ticks_are_round_and_inside() -> None:
    assert AxisScale(0.0, 1.0, 0.0, 1.0, False).ticks()[-1] == 1.0
    assert AxisScale(1.0, 1000.0, 0.0, 1.0, True).ticks() == [1.0, 10.0, 100.0, 1000.0]
    assert AxisScale(2.0, 900.0, 0.0, 1.0, True).ticks() == [10.0, 100.0]
