"""Figures draw the view's numbers, and labels stay text."""

import numpy as np
import pytest

from attnviz import figures
from attnviz.errors import BadInput
from attnviz.types import Stage, StepView


def view(values: list[list[float]], stage: Stage = "scores", signed: bool = True) -> StepView:
    return StepView(
        stage=stage,
        values=np.array(values, dtype=np.float32),
        rows="query",
        cols="key",
        signed=signed,
        range=None if signed else (0.0, 1.0),
        rows_sum_to=None if signed else 1.0,
        error=None,
        tolerance=1e-4,
    )


def test_heatmap_draws_the_numbers_and_leaves_blocked_cells_empty() -> None:
    figure = figures.heatmap(view([[1.0, -np.inf], [-3.0, 2.0]]))
    drawn = np.asarray(figure.data[0].z, dtype=float)
    np.testing.assert_array_equal(drawn, [[1.0, np.nan], [-3.0, 2.0]])
    assert (figure.data[0].zmin, figure.data[0].zmax) == (-3.0, 3.0)
    assert figure.layout.yaxis.autorange == "reversed"


def test_weights_use_the_range_of_their_stage() -> None:
    figure = figures.heatmap(view([[0.25, 0.75]], stage="weights", signed=False))
    assert (figure.data[0].zmin, figure.data[0].zmax) == (0.0, 1.0)


def test_labels_are_text_not_markup() -> None:
    figure = figures.heatmap(view([[0.0]]), ["<b>x</b>"], ["</script>"])
    assert figure.layout.yaxis.ticktext == ("&lt;b&gt;x&lt;/b&gt;",)
    assert figure.layout.xaxis.ticktext == ("&lt;/script&gt;",)


def test_labels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(BadInput, match="2 row_labels for 1"):
        figures.heatmap(view([[0.0]]), ["a", "b"])


def test_heatmap_has_the_colours_of_the_screen() -> None:
    signed = figures.heatmap(view([[0.0, 1.0]])).data[0].colorscale
    plain = figures.heatmap(view([[0.0, 1.0]], "weights", signed=False)).data[0].colorscale
    assert signed[0] == (0, "rgb(122, 59, 6)") and signed[-1] == (1, "rgb(16, 56, 110)")
    assert plain[0] == (0, "rgb(246, 249, 251)") and len(plain) == 256


def test_an_array_is_told_what_draws_it() -> None:
    with pytest.raises(BadInput, match=r"figures\.head draws an array of weights"):
        figures.heatmap(np.eye(2))  # type: ignore[arg-type]
