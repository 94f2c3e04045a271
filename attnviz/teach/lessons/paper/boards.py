"""A board of matrices for paper: tables in black and white, to read and to fill in.

In: a `Board` and a function that gives its captions. Out: HTML. Blocked cells are hatched, marked
ones have a bold frame; hidden matrices keep their size and are empty, since hatching and frames
would give the answer away. No colour carries meaning.
"""

from collections.abc import Callable
from dataclasses import replace
from html import escape

import numpy as np

from attnviz.i18n import DEFAULT, Language
from attnviz.i18n.numbers import number
from attnviz.pictures.board import Board, Panel
from attnviz.teach.lessons.paper.markdown import inline

Say = Callable[[str], str]
DENSE_COLUMNS = 9  # more columns than this are set small


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
        rows.append(_sum_row(lang, panel, sums_of_rows))
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


def _sum_row(lang: Language, panel: Panel, corner: bool) -> str:
    cells = [_sum(lang, panel, panel.values[:, column]) for column in range(panel.values.shape[1])]
    return f"<th>Σ</th>{''.join(cells)}{'<td></td>' * corner}"


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
