"""Plotly charts of a few lines or groups of bars over one axis; they compute nothing.

In: lines with labels in the reader's language. Out: a `plotly` figure without colours of its own,
so that it takes those of the page; lines differ in dash and marker too, never in colour alone.
"""

import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64

from attnviz.summary import described

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
MARKERS = ("circle", "square", "diamond", "cross", "triangle-up")
PATTERNS = ("", "/", ".", "x", "-")
MAX_MARKED = 24  # points beyond which a line has no markers
MAX_TICKS = 10  # points beyond which a logarithmic axis names round numbers instead
HEIGHT_PX, EMPTY_PX = 380, 240
FONT_PX = 15
MARK = "#7f8c8d"  # stands out on light and on dark
CURVE = "#1f9e93"  # so do many lines of it
SYMBOL = re.compile(r"\b(d|W)_(k|model|[QKVO])\b")


@dataclass(frozen=True, eq=False)
class Line:
    """One line, or one bar of each group; its `label` is text, never markup."""

    label: str
    x: Float64[np.ndarray, "point"]
    y: Float64[np.ndarray, "point"]

    def __repr__(self) -> str:
        return described(self)


def chart(
    lines: Sequence[Line],
    x_title: str,
    y_title: str,
    *,
    log_x: bool = False,
    bars: bool = False,
    marked_x: float | None = None,
) -> "Figure":
    """Lines over one axis, or bars side by side; a vertical line marks `marked_x`."""
    from plotly import graph_objects

    draw = _bar if bars else _line
    figure = graph_objects.Figure([draw(line, place) for place, line in enumerate(lines)])
    figure.update_xaxes(title_text=_label(x_title))
    if log_x:
        figure.update_xaxes(type="log", tickmode="array", tickvals=_log_ticks(lines))
    figure.update_yaxes(title_text=_label(y_title), rangemode="tozero")
    if marked_x is not None:
        figure.add_vline(x=marked_x, line_dash="dash", line_width=2, line_color=MARK)
    figure.update_layout(
        height=HEIGHT_PX,
        barmode="group",
        font_size=FONT_PX,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        showlegend=len(lines) > 1,
        margin={"l": 60, "r": 20, "t": 40, "b": 60},
        hoverlabel={"namelength": -1},
    )
    if not any(np.isfinite(line.y).any() for line in lines):
        _leave_empty(figure, lines, log_x)
    return figure


def curves(lines: Sequence[Line], x_title: str, y_title: str, *, level: float) -> "Figure":
    """Many lines of one kind, faint and without a legend, and a `level` that they cross."""
    figure = chart(lines, x_title, y_title)
    figure.update_traces(line={"dash": "solid", "width": 2}, opacity=0.55, mode="lines")
    figure.update_layout(showlegend=False, colorway=[CURVE])
    figure.add_hline(y=level, line_dash="dot", line_width=2, line_color=MARK)
    figure.update_yaxes(range=[0, 1])
    return figure


def enlarge(figure: "Figure", font_px: int, height_px: int) -> None:
    """Make a chart to be read from afar."""
    for update in (figure.update_xaxes, figure.update_yaxes):
        update(tickfont_size=font_px, title_font_size=font_px)
    figure.update_layout(
        height=height_px, margin={"l": 90, "b": 90, "t": 60}, legend_font_size=font_px
    )
    figure.update_traces(line_width=4, selector={"type": "scatter"})


def _leave_empty(figure: "Figure", lines: Sequence[Line], log_x: bool) -> None:
    """Axes for lines that are not shown yet: all of x, and y without numbers."""
    x = np.concatenate([line.x for line in lines])
    low, high = float(x.min()), float(x.max())
    figure.update_xaxes(range=[math.log10(low), math.log10(high)] if log_x else [low, high])
    figure.update_yaxes(range=[0, 1], showticklabels=False)
    figure.update_layout(height=EMPTY_PX)


def _log_ticks(lines: Sequence[Line]) -> list[float]:
    """The values of the points where they are few, else 1, 2 and 5 times powers of ten.

    By itself plotly writes the digits between two powers in small type: "2" for 20.
    """
    values = np.unique(np.concatenate([line.x for line in lines]))
    if len(values) <= MAX_TICKS:
        return [float(value) for value in values]
    low, high = values[0], values[-1]
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    return [tick for tick in ticks if low <= tick <= high]


def _label(plain: str) -> str:
    """A label as markup: symbols as d_k and W_O with a subscript."""
    return SYMBOL.sub(r"\1<sub>\2</sub>", html.escape(plain))


def _line(line: Line, place: int) -> object:
    from plotly import graph_objects

    return graph_objects.Scatter(
        x=line.x,
        y=line.y,
        name=_label(line.label),
        mode="lines+markers" if len(line.x) <= MAX_MARKED else "lines",
        line={"dash": DASHES[place % len(DASHES)], "width": 2.5},
        marker={"symbol": MARKERS[place % len(MARKERS)], "size": 8},
    )


def _bar(line: Line, place: int) -> object:
    from plotly import graph_objects

    pattern = {"shape": PATTERNS[place % len(PATTERNS)]}
    return graph_objects.Bar(
        x=line.x, y=line.y, name=_label(line.label), marker={"pattern": pattern}
    )
