"""Pictures for paper, in black and white: matrices as tables to read and fill in, charts as SVG.

In: a `Board` or a `Chart`, and a function that gives its captions. Out: HTML, or SVG that needs
nothing else. Blocked cells are hatched, marked ones have a bold frame; hidden matrices keep their
size and are empty, since hatching and frames would give the answer away. Lines and bars are told
apart by dashes, points and fill: no colour carries meaning.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from html import escape

import numpy as np

from attnviz.i18n import DEFAULT, Language
from attnviz.i18n.numbers import number
from attnviz.pictures.board import Board, Panel
from attnviz.teach.lessons.cards.card import Chart, Series
from attnviz.teach.lessons.paper.markdown import inline, plain

WIDTH, HEIGHT = 520.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 62.0, 10.0, 12.0, 46.0
DASHES = ("", "7 4", "2 3", "9 3 2 3")
FILLS = ("#222", "#999", "#fff", "#ccc")
TICKS = 5
LEGEND = 18.0
Say = Callable[[str], str]
DENSE_COLUMNS = 9  # more columns than this are set small


class AxisScale:
    """Maps the numbers of an axis to positions on paper, and gives its ticks."""

    def __init__(self, low: float, high: float, start: float, stop: float, log: bool) -> None:
        self._log = log
        self.low, self.high = (math.log10(low), math.log10(high)) if log else (low, high)
        if self.high == self.low:
            self.low, self.high = self.low - 0.5, self.high + 0.5
        self.start, self.stop = start, stop

    def position(self, value: float) -> float:
        """The position of a number on paper."""
        inner = math.log10(value) if self._log else value
        return self.start + (inner - self.low) / (self.high - self.low) * (self.stop - self.start)

    def ticks(self) -> list[float]:
        """A few round numbers inside the axis."""
        if self._log and self.high - self.low >= 1:
            return [10.0**power for power in range(math.ceil(self.low), int(self.high) + 1)]
        rough = (self.high - self.low) / TICKS
        steps = [base * 10.0 ** math.floor(math.log10(rough)) for base in (1, 2, 5, 10)]
        step = float(next(step for step in steps if step >= rough * 0.999))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        ticks = [number * step for number in range(first, last + 1)]
        return [10.0**tick for tick in ticks] if self._log else ticks


def chart_html(chart: Chart, say: Say, lang: Language = DEFAULT) -> str:
    """The chart as SVG."""
    x, y = _scales(chart)
    parts = [_axes(chart, x, y, say, lang)]
    for index, series in enumerate(chart.series):
        parts.append(_bars(chart, index, x, y) if chart.bars else _line(series, index, x, y))
        parts.append(_key(series, index, chart.bars, say))
    if chart.marked_x is not None:
        left = x.position(chart.marked_x)
        parts.append(f'<path class="mark" d="M{left:.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
    height = HEIGHT + LEGEND * len(chart.series)
    label = escape(plain(f"{say(f'axis.{chart.y}')} · {say(f'axis.{chart.x}')}"))
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">'
        f"{''.join(parts)}</svg>"
    )


def _scales(chart: Chart) -> tuple[AxisScale, AxisScale]:
    all_x = np.concatenate([series.x for series in chart.series])
    all_y = np.concatenate([series.y for series in chart.series])
    all_y = all_y[np.isfinite(all_y)]
    low, high = float(all_y.min()), float(all_y.max())
    if chart.bars:
        low, high = min(low, 0.0), max(high, 0.0)
    first, last = float(all_x.min()), float(all_x.max())
    if chart.bars and not chart.log_x:
        first, last = first - 0.6, last + 0.6
    margin = 0.04 * (high - low)
    return (
        AxisScale(first, last, LEFT, WIDTH - RIGHT, chart.log_x),
        AxisScale(low, high + margin, HEIGHT - BOTTOM, TOP, log=False),
    )


def _axes(chart: Chart, x: AxisScale, y: AxisScale, say: Say, lang: Language) -> str:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>']
    for tick in x.ticks():
        parts.append(_text(x.position(tick), bottom + 16, number(lang, tick, ".4g"), "middle"))
        parts.append(f'<path class="axis" d="M{x.position(tick):.1f} {bottom}v4"/>')
    for tick in y.ticks():
        parts.append(_text(LEFT - 6, y.position(tick) + 4, number(lang, tick, ".4g"), "end"))
        parts.append(f'<path class="grid" d="M{LEFT} {y.position(tick):.1f}H{right}"/>')
    parts.append(_text((LEFT + right) / 2, HEIGHT - 10, plain(say(f"axis.{chart.x}")), "middle"))
    y_title = _text(0.0, 0.0, plain(say(f"axis.{chart.y}")), "middle")
    middle = (TOP + bottom) / 2
    return "".join([*parts, f'<g transform="translate(14 {middle:.0f}) rotate(-90)">{y_title}</g>'])


def _line(series: Series, index: int, x: AxisScale, y: AxisScale) -> str:
    steps, pen = [], "M"
    for x_value, y_value in zip(series.x, series.y, strict=True):
        if math.isfinite(y_value):
            steps.append(f"{pen}{x.position(float(x_value)):.1f} {y.position(float(y_value)):.1f}")
        pen = "L" if math.isfinite(y_value) else "M"
    return f'<path class="line"{_dash(index)} d="{"".join(steps)}"/>'


def _bars(chart: Chart, index: int, x: AxisScale, y: AxisScale) -> str:
    series, count = chart.series[index], len(chart.series)
    slot = (WIDTH - LEFT - RIGHT) / max(len(line.x) for line in chart.series)
    width = 0.8 * slot / count
    parts = []
    for x_value, y_value in zip(series.x, series.y, strict=True):
        left = x.position(float(x_value)) - 0.4 * slot + index * width
        top, base = sorted((y.position(float(y_value)), y.position(0.0)))
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{base - top:.1f}"'
            f' fill="{FILLS[index % len(FILLS)]}" stroke="#222"/>'
        )
    return "".join(parts)


def _key(series: Series, index: int, bars: bool, say: Say) -> str:
    """The line of the legend below the chart."""
    bottom = HEIGHT + LEGEND * index + 4
    if bars:
        fill = FILLS[index % len(FILLS)]
        sign = (
            f'<rect x="{LEFT}" y="{bottom - 8}" width="30" height="8" fill="{fill}" stroke="#222"/>'
        )
    else:
        sign = f'<path class="line"{_dash(index)} d="M{LEFT} {bottom - 4}h30"/>'
    return sign + _text(LEFT + 38, bottom, plain(say(f"series.{series.name}")), "start")


def _dash(index: int) -> str:
    dashes = DASHES[index % len(DASHES)]
    return f' stroke-dasharray="{dashes}"' if dashes else ""


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def board_html(board: Board, say: Say, answers: bool = False, lang: Language = DEFAULT) -> str:
    """The matrices of a board; with `answers`, the hidden ones are filled in."""
    parts = []
    for panel in board.panels:
        if panel.before:
            parts.append(f'<span class="sign">{escape(panel.before)}</span>')
        hidden = is_blank(board, panel) and not answers
        asked = () if answers else panel.asked_elsewhere
        parts.append(matrix_html(replace(panel, hidden=hidden, asked_elsewhere=asked), say, lang))
    return f'<div class="board">{"".join(parts)}</div>'


def is_blank(board: Board, panel: Panel) -> bool:
    """True if a matrix of the board is printed without its numbers, to be filled in."""
    return panel.hidden or panel.name in board.blank_on_paper


def matrix_html(panel: Panel, say: Say, lang: Language = DEFAULT) -> str:
    """One matrix with its caption, its rows and columns named."""
    sums_of_rows = panel.sums in ("rows", "both")
    columns = [*(panel.columns or _numbers(panel.values.shape[1])), *("Σ" * sums_of_rows)]
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", *columns))
    rows = [_row(lang, panel, row, sums_of_rows) for row in range(len(panel.values))]
    if panel.sums in ("columns", "both"):
        sums = (_sum(lang, panel, column) for column in panel.values.T)
        rows.append(f"<th>Σ</th>{''.join(sums)}{'<td></td>' * sums_of_rows}")
    dense = " dense" * (len(columns) > DENSE_COLUMNS)
    caption = inline(say(f"panel.{panel.name}"))
    body = "".join(f"<tr>{row}</tr>" for row in (head, *rows))
    return f'<table class="matrix{dense}"><caption>{caption}</caption>{body}</table>'


def _row(lang: Language, panel: Panel, row: int, with_sum: bool) -> str:
    names = panel.rows or _numbers(len(panel.values))
    cells = [_cell(lang, panel, row, column) for column in range(panel.values.shape[1])]
    if with_sum:
        cells.append(_sum(lang, panel, panel.values[row]))
    return f"<th>{escape(names[row])}</th>{''.join(cells)}"


def _sum(lang: Language, panel: Panel, values: np.ndarray) -> str:
    shown = "" if panel.hidden else number(lang, values.sum(), f".{panel.decimals}f")
    return f'<td class="sum">{shown}</td>'


def _cell(lang: Language, panel: Panel, row: int, column: int) -> str:
    if panel.hidden or (row, column) in panel.asked_elsewhere:
        return "<td></td>"
    blocked = panel.blocked is not None and bool(panel.blocked[row, column])
    classes = [*(["blocked"] * blocked), *(["marked"] * ((row, column) in panel.marked))]
    attribute = f' class="{" ".join(classes)}"' if classes else ""
    shown = number(lang, panel.values[row, column], f".{panel.decimals}f")
    return f"<td{attribute}>{shown}</td>"


def _numbers(size: int) -> tuple[str, ...]:
    return tuple(map(str, range(size)))
