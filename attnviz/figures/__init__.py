"""Figures of what was computed: they draw numpy arrays and compute nothing.

For print: `heads`, `head`, `lines`, `steps`, `alignment`, `compare`, `panels` and `picture` give a
`Drawing`, which is SVG and, with the extra `paper`, PDF, PNG and EPS. For a notebook or a page:
`heatmap` gives a `plotly` figure of a `StepView`. Colours are those of the screen: sequential if
numbers cannot be negative, else diverging and symmetric.
"""

import html
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from attnviz.errors import bad_argument, require_package, require_type
from attnviz.figures.comparison import compare, panels, picture
from attnviz.figures.connections import alignment, lines
from attnviz.figures.drawing import Drawing
from attnviz.figures.matrices import head
from attnviz.figures.overview import heads
from attnviz.figures.ramp import LEVELS, table
from attnviz.figures.stages import steps
from attnviz.types import StepView

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = [
    "Drawing",
    "alignment",
    "colour_range",
    "compare",
    "head",
    "heads",
    "heatmap",
    "lines",
    "panels",
    "picture",
    "steps",
]


def heatmap(
    view: StepView,
    row_labels: Sequence[str] | None = None,
    col_labels: Sequence[str] | None = None,
) -> "Figure":
    """A heatmap of one stage: rows downwards, blocked cells (−∞) left empty.

    Labels are text, never markup. Raises `BadInput` for anything but a `StepView`, and if the
    number of labels does not fit the matrix.
    """
    require_type(
        "figures.heatmap",
        "view",
        view,
        StepView,
        'give cap.head("L5.H11").view("weights"); figures.head draws an array of weights',
    )
    require_package("plotly", "figures.heatmap", "app")
    from plotly import graph_objects

    n_rows, n_cols = view.values.shape
    for name, labels, count in (("row", row_labels, n_rows), ("col", col_labels, n_cols)):
        if labels is not None and len(labels) != count:
            raise bad_argument(
                f"{len(labels)} {name}_labels for {count}; give one for each",
                name=f"{name}_labels",
                found=len(labels),
                allowed=count,
            )
    low, high = colour_range(view)
    trace = graph_objects.Heatmap(
        z=np.where(np.isfinite(view.values), view.values, np.nan),
        zmin=low,
        zmax=high,
        colorscale=_colour_scale(view.signed),
        hovertemplate=f"{view.rows} %{{y}}<br>{view.cols} %{{x}}<br>{view.stage} %{{z:.4f}}"
        "<extra></extra>",
    )
    figure = graph_objects.Figure(trace)
    figure.update_xaxes(title_text=view.cols, **_ticks(col_labels))
    figure.update_yaxes(title_text=view.rows, autorange="reversed", **_ticks(row_labels))
    figure.update_layout(title_text=view.stage)
    return figure


def colour_range(view: StepView) -> tuple[float, float]:
    """The numbers at the two ends of the colour scale: the stage's own range, or ± its largest."""
    if view.range is not None:
        return view.range
    finite = view.values[np.isfinite(view.values)]
    largest = float(np.abs(finite).max()) if finite.size else 1.0
    largest = largest if largest > 0 and math.isfinite(largest) else 1.0
    return (-largest, largest) if view.signed else (0.0, largest)


def _colour_scale(signed: bool) -> list[list[object]]:
    """The ramp of the screen's light theme as plotly reads it: places 0..1 and their colours."""
    colours = table("diverging_light" if signed else "light").tolist()
    return [
        [level / (LEVELS - 1), f"rgb({red}, {green}, {blue})"]
        for level, (red, green, blue) in enumerate(colours)
    ]


def _ticks(labels: Sequence[str] | None) -> dict[str, object]:
    if labels is None:
        return {}
    # plotly reads some HTML in tick texts: what the text says stays text
    return {
        "tickvals": list(range(len(labels))),
        "ticktext": [html.escape(label) for label in labels],
    }
