"""Charts draw the numbers they are given, tell lines apart without colour, and labels stay text."""

import numpy as np
import pytest

from attnviz.figures.charts import Line, chart

X = np.array([1.0, 10.0, 100.0])
FALLING, RISING = (
    Line("falling", X, np.array([3.0, 2.0, 1.0])),
    Line("<b>", X, np.array([0, 1.0, 7])),
)


def test_lines_carry_their_numbers_and_differ_in_more_than_colour() -> None:
    figure = chart([FALLING, RISING], "size", "weight", log_x=True, marked_x=10.0)
    for drawn, line in zip(figure.data, (FALLING, RISING), strict=True):
        np.testing.assert_array_equal(drawn.x, line.x)
        np.testing.assert_array_equal(drawn.y, line.y)
    first, second = figure.data
    assert first.line.dash != second.line.dash
    assert first.marker.symbol != second.marker.symbol
    assert figure.layout.xaxis.type == "log"
    assert figure.layout.showlegend


@pytest.mark.parametrize(
    ("x", "ticks"),
    [
        ([4.0, 16.0, 64.0, 512.0], [4.0, 16.0, 64.0, 512.0]),
        (list(np.geomspace(0.3, 30.0, 60)), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]),
    ],
)
def test_a_logarithmic_axis_names_its_points_or_round_numbers(
    x: list[float], ticks: list[float]
) -> None:
    drawn = chart([Line("line", np.array(x), np.array(x))], "x", "y", log_x=True)
    assert drawn.layout.xaxis.tickvals == pytest.approx(ticks)
    assert chart([FALLING], "x", "y").layout.xaxis.tickvals is None


def test_the_marked_place_is_drawn_where_it_is() -> None:
    (line,) = chart([FALLING], "x", "y", marked_x=10.0).layout.shapes
    assert (line.x0, line.x1) == (10.0, 10.0)
    assert not chart([FALLING], "x", "y").layout.shapes


@pytest.mark.parametrize("bars", [False, True])
def test_labels_stay_text(bars: bool) -> None:
    figure = chart([RISING], "<i>x</i>", "y", bars=bars)
    assert figure.data[0].name == "&lt;b&gt;"
    assert figure.layout.xaxis.title.text == "&lt;i&gt;x&lt;/i&gt;"
    assert figure.data[0].type == ("bar" if bars else "scatter")


def test_many_points_have_no_markers() -> None:
    many = np.arange(100.0)
    figure = chart([Line("a", many, many), FALLING], "x", "y")
    assert [of.mode for of in figure.data] == ["lines", "lines+markers"]


def test_a_symbol_has_a_subscript() -> None:
    lines = [Line("d_k = 64", X, X), Line("W_Q, W_O", X, X)]
    figure = chart(lines, "d_model", "id_k, d_kept")
    assert [line.name for line in figure.data] == [
        "d<sub>k</sub> = 64",
        "W<sub>Q</sub>, W<sub>O</sub>",
    ]
    assert figure.layout.xaxis.title.text == "d<sub>model</sub>"
    assert figure.layout.yaxis.title.text == "id_k, d_kept"
