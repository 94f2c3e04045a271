"""A chart for paper: lines or bars as one SVG in black, told apart by dashes, points and fill.

In: a `Chart` and a function that says its labels. Out: SVG that needs nothing else.
"""

import math
from html import escape

import numpy as np

from attnviz.lessons.cards.card import Chart, Series
from attnviz.lessons.paper.boards import MINUS, Say
from attnviz.lessons.paper.markdown import plain

WIDTH, HEIGHT = 520.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 62.0, 10.0, 12.0, 46.0
DASHES = ("", "7 4", "2 3", "9 3 2 3")
FILLS = ("#222", "#999", "#fff", "#ccc")
TICKS = 5
LEGEND = 18.0


class Scale:
    """From numbers to places on paper, with a few round numbers to name."""

    def __init__(self, low: float, high: float, start: float, stop: float, log: bool) -> None:
        self._log = log
        self.low, self.high = (math.log10(low), math.log10(high)) if log else (low, high)
        if self.high == self.low:
            self.low, self.high = self.low - 0.5, self.high + 0.5
        self.start, self.stop = start, stop

    def at(self, value: float) -> float:
        """The place of a number."""
        inner = math.log10(value) if self._log else value
        return self.start + (inner - self.low) / (self.high - self.low) * (self.stop - self.start)

    def ticks(self) -> list[float]:
        """Round numbers inside."""
        if self._log and self.high - self.low >= 1:
            return [10.0**power for power in range(math.ceil(self.low), int(self.high) + 1)]
        step = _round_step((self.high - self.low) / TICKS)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        found = [number * step for number in range(first, last + 1)]
        return [10.0**each for each in found] if self._log else found


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= rough * 0.999))


def chart(shown: Chart, say: Say) -> str:
    """The chart as SVG."""
    x, y = _scales(shown)
    parts = [_axes(shown, x, y, say)]
    for index, series in enumerate(shown.series):
        parts.append(_bars(shown, index, x, y) if shown.bars else _line(series, index, x, y))
        parts.append(_key(series, index, shown.bars, say))
    if shown.marked_x is not None:
        place = x.at(shown.marked_x)
        parts.append(f'<path class="mark" d="M{place:.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
    height = HEIGHT + LEGEND * len(shown.series)
    named = escape(plain(f"{say(f'axis.{shown.y}')} · {say(f'axis.{shown.x}')}"))
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{named}">'
        f"{''.join(parts)}</svg>"
    )


def _scales(shown: Chart) -> tuple[Scale, Scale]:
    every_x = np.concatenate([series.x for series in shown.series])
    every_y = np.concatenate([series.y for series in shown.series])
    every_y = every_y[np.isfinite(every_y)]
    low, high = float(every_y.min()), float(every_y.max())
    if shown.bars:
        low, high = min(low, 0.0), max(high, 0.0)
    first, last = float(every_x.min()), float(every_x.max())
    if shown.bars and not shown.log_x:
        first, last = first - 0.6, last + 0.6
    margin = 0.04 * (high - low)
    return (
        Scale(first, last, LEFT, WIDTH - RIGHT, shown.log_x),
        Scale(low, high + margin, HEIGHT - BOTTOM, TOP, log=False),
    )


def _axes(shown: Chart, x: Scale, y: Scale, say: Say) -> str:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>']
    for tick in x.ticks():
        parts.append(_text(x.at(tick), bottom + 16, _said(tick), "middle"))
        parts.append(f'<path class="axis" d="M{x.at(tick):.1f} {bottom}v4"/>')
    for tick in y.ticks():
        parts.append(_text(LEFT - 6, y.at(tick) + 4, _said(tick), "end"))
        parts.append(f'<path class="grid" d="M{LEFT} {y.at(tick):.1f}H{right}"/>')
    parts.append(_text((LEFT + right) / 2, HEIGHT - 10, plain(say(f"axis.{shown.x}")), "middle"))
    turned = _text(0.0, 0.0, plain(say(f"axis.{shown.y}")), "middle")
    middle = (TOP + bottom) / 2
    return "".join([*parts, f'<g transform="translate(14 {middle:.0f}) rotate(-90)">{turned}</g>'])


def _line(series: Series, index: int, x: Scale, y: Scale) -> str:
    steps, pen = [], "M"
    for at_x, at_y in zip(series.x, series.y, strict=True):
        if math.isfinite(at_y):
            steps.append(f"{pen}{x.at(float(at_x)):.1f} {y.at(float(at_y)):.1f}")
        pen = "L" if math.isfinite(at_y) else "M"
    return f'<path class="line"{_dash(index)} d="{"".join(steps)}"/>'


def _bars(shown: Chart, index: int, x: Scale, y: Scale) -> str:
    series, count = shown.series[index], len(shown.series)
    slot = (WIDTH - LEFT - RIGHT) / max(len(each.x) for each in shown.series)
    width = 0.8 * slot / count
    parts = []
    for at_x, at_y in zip(series.x, series.y, strict=True):
        left = x.at(float(at_x)) - 0.4 * slot + index * width
        top, base = sorted((y.at(float(at_y)), y.at(0.0)))
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{base - top:.1f}"'
            f' fill="{FILLS[index % len(FILLS)]}" stroke="#222"/>'
        )
    return "".join(parts)


def _key(series: Series, index: int, bars: bool, say: Say) -> str:
    """The line of the legend below the chart."""
    at = HEIGHT + LEGEND * index + 4
    if bars:
        fill = FILLS[index % len(FILLS)]
        sign = f'<rect x="{LEFT}" y="{at - 8}" width="30" height="8" fill="{fill}" stroke="#222"/>'
    else:
        sign = f'<path class="line"{_dash(index)} d="M{LEFT} {at - 4}h30"/>'
    return sign + _text(LEFT + 38, at, plain(say(f"series.{series.name}")), "start")


def _dash(index: int) -> str:
    dashes = DASHES[index % len(DASHES)]
    return f' stroke-dasharray="{dashes}"' if dashes else ""


def _text(x: float, y: float, said: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(said)}</text>'


def _said(value: float) -> str:
    return f"{value:.4g}".replace("-", MINUS)
