"""The key of a worksheet: the answers that `grade` accepts, with their reasons, on a last page.

In: a `Worksheet`. Out: HTML. Numbers have as many digits as their tolerance asks for.
"""

import math
from collections.abc import Collection
from dataclasses import replace
from html import escape

from attnviz.i18n import DEFAULT, Language, text
from attnviz.i18n.numbers import number as number_text
from attnviz.pictures.board import Board, BoardCell
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    ChoiceQuestion,
    NumberQuestion,
    Question,
)
from attnviz.teach.lessons.paper.boards import is_blank
from attnviz.teach.lessons.paper.markdown import html, inline
from attnviz.teach.lessons.paper.sheet import Worksheet, picture_html, takeaway

MAX_DECIMALS = 6


def key(sheet: Worksheet) -> str:
    """The answers, on a page of their own."""
    parts = [
        _solution(sheet, number, printed.card, printed.card.question)
        for number, printed in enumerate(sheet.printed, 1)
        if printed.card.question is not None
    ]
    seed = sheet.label("seed", seed=str(sheet.seed))
    return (
        f'<section class="key"><h2>{sheet.label("key")}</h2>'
        f'<p class="note">{escape(sheet.texts.title)} · {seed}. {sheet.label("same")}</p>'
        f"{''.join(parts)}</section>"
    )


def _solution(sheet: Worksheet, number: int, card: Card, question: Question) -> str:
    answer = _right_answer(sheet, card, question)
    parts = [
        f"<h3>{number}. {inline(sheet.say(card, 'title'))}</h3>",
        f'<p class="right" id="right-{escape(card.name)}">{answer}</p>',
        html(sheet.say(card, "reveal")),
    ]
    filled = [
        Board(tuple(replace(panel, before="") for panel in board.panels if is_blank(board, panel)))
        for board in card.pictures
        if isinstance(board, Board)
    ]
    pictures = [board for board in filled if board.panels] + list(card.reveal)
    parts += [picture_html(sheet, card, picture, answers=True) for picture in pictures]
    parts.append(takeaway(sheet, card))
    return f"<article>{''.join(parts)}</article>"


def _right_answer(sheet: Worksheet, card: Card, question: Question) -> str:
    match question:
        case NumberQuestion():
            return escape(exact(question.answer, question.tolerance, sheet.lang))
        case CellQuestion():
            named = " · ".join(cells(card, sheet.lang, question.panel, question.right))
            return f"{inline(sheet.say(card, f'panel.{question.panel}'))}: {escape(named)}"
        case ChoiceQuestion():
            return inline(sheet.say(card, f"option.{question.right}"))


def exact(answer: float | int, tolerance: float, lang: Language = DEFAULT) -> str:
    """An answer with as many digits as its tolerance asks for.

    >>> exact(0.8909, 0.006), exact(64, 0.5)
    ('0.891', '64')
    """
    if float(answer).is_integer():
        return number_text(lang, answer, ".0f")
    digits = math.ceil(-math.log10(tolerance)) if tolerance > 0 else MAX_DECIMALS
    return number_text(lang, answer, f".{min(max(digits, 0), MAX_DECIMALS)}f")


def cells(card: Card, lang: Language, name: str, chosen: Collection[BoardCell]) -> list[str]:
    """Cells of a card's panel in words; a row whose cells are all there is named as a row."""
    panel = next(
        panel
        for board in card.pictures
        if isinstance(board, Board)
        for panel in board.panels
        if panel.name == name
    )
    width = panel.values.shape[1]
    by_row: dict[int, list[int]] = {}
    for row, column in sorted(chosen):
        by_row.setdefault(row, []).append(column)
    words = []
    for row, columns in by_row.items():
        row_name = _name(panel.rows, row)
        if len(columns) == width > 1:
            words.append(text(lang, "worksheet.row", row=row_name))
            continue
        words += [
            text(lang, "worksheet.cell", row=row_name, column=_name(panel.columns, column))
            for column in columns
        ]
    return words


def _name(names: tuple[str, ...], index: int) -> str:
    return f"{names[index]} ({index})" if names else str(index)
