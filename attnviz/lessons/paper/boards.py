"""A board of matrices for paper: tables in black and white, to read and to fill in.

In: a `Board` and a function that says its captions. Out: HTML. Blocked cells are hatched and say
−∞ where the number does, marked ones have a bold frame, hidden matrices are empty with their size
kept: what they hatch or frame would tell too much. No colour carries meaning.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from html import escape

import numpy as np

from attnviz.lessons.cards.card import Board, Panel
from attnviz.lessons.paper.markdown import inline

Say = Callable[[str], str]
MINUS = "−"
DENSE = 9  # more columns than this are set small


def board(shown: Board, say: Say, answers: bool = False) -> str:
    """The matrices of a board; with `answers`, those that were hidden too."""
    parts = []
    for panel in shown.panels:
        if panel.before:
            parts.append(f'<span class="sign">{escape(panel.before)}</span>')
        parts.append(matrix(replace(panel, hidden=is_blank(panel) and not answers), say))
    return f'<div class="board">{"".join(parts)}</div>'


def is_blank(panel: Panel) -> bool:
    """Whether a matrix is printed without its numbers, to be filled in."""
    return panel.hidden or panel.blank_on_paper


def matrix(panel: Panel, say: Say) -> str:
    """One matrix with its caption, its rows and columns named."""
    sums_of_rows = panel.sums in ("rows", "both")
    columns = [*(panel.columns or _counted(panel.values.shape[1])), *("Σ" * sums_of_rows)]
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", *columns))
    rows = [_row(panel, row, sums_of_rows) for row in range(len(panel.values))]
    if panel.sums in ("columns", "both"):
        rows.append(_sum_row(panel, sums_of_rows))
    dense = " dense" * (len(columns) > DENSE)
    caption = inline(say(f"panel.{panel.name}"))
    body = "".join(f"<tr>{row}</tr>" for row in (head, *rows))
    return f'<table class="matrix{dense}"><caption>{caption}</caption>{body}</table>'


def _row(panel: Panel, row: int, with_sum: bool) -> str:
    names = panel.rows or _counted(len(panel.values))
    cells = [_cell(panel, row, column) for column in range(panel.values.shape[1])]
    if with_sum:
        cells.append(_sum(panel, panel.values[row]))
    return f"<th>{escape(names[row])}</th>{''.join(cells)}"


def _sum_row(panel: Panel, corner: bool) -> str:
    cells = [_sum(panel, panel.values[:, column]) for column in range(panel.values.shape[1])]
    return f"<th>Σ</th>{''.join(cells)}{'<td></td>' * corner}"


def _sum(panel: Panel, values: np.ndarray) -> str:
    said = "" if panel.hidden else number(float(values.sum()), panel.decimals)
    return f'<td class="sum">{said}</td>'


def _cell(panel: Panel, row: int, column: int) -> str:
    if panel.hidden:
        return "<td></td>"
    blocked = panel.blocked is not None and bool(panel.blocked[row, column])
    names = [*(["blocked"] * blocked), *(["marked"] * ((row, column) in panel.marked))]
    of_class = f' class="{" ".join(names)}"' if names else ""
    said = number(float(panel.values[row, column]), panel.decimals)
    return f"<td{of_class}>{said}</td>"


def _counted(size: int) -> tuple[str, ...]:
    return tuple(map(str, range(size)))


def number(value: float, decimals: int) -> str:
    """A number as it is printed.

    >>> number(-0.5, 2), number(float("-inf"), 2), number(-0.001, 2)
    ('−0.50', '−∞', '0.00')
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    said = f"{value:.{decimals}f}"
    return f"{abs(value):.{decimals}f}" if float(said) == 0 else said.replace("-", MINUS)
