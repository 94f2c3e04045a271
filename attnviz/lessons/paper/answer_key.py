"""The key of a worksheet: what `grade` takes for right, with the reason, on a page of its own.

In: a `Sheet`. Out: HTML. Numbers have as many digits as their tolerance asks for.
"""

import math
from collections.abc import Collection
from dataclasses import replace
from html import escape

from attnviz.i18n import Language, text
from attnviz.lessons.cards.card import (
    Board,
    Card,
    Cell,
    CellQuestion,
    ChoiceQuestion,
    NumberQuestion,
    Question,
)
from attnviz.lessons.paper.boards import is_blank, number
from attnviz.lessons.paper.markdown import html, inline
from attnviz.lessons.paper.sheet import Sheet, picture, takeaway

MOST_DECIMALS = 6


def key(sheet: Sheet) -> str:
    """The answers, on a page of their own."""
    parts = [
        _solved(sheet, place, each.card, each.card.question)
        for place, each in enumerate(sheet.cards, 1)
        if each.card.question is not None
    ]
    seed = sheet.own("seed", seed=sheet.seed)
    return (
        f'<section class="key"><h2>{sheet.own("key")}</h2>'
        f'<p class="note">{escape(sheet.texts.title)} · {seed}. {sheet.own("same")}</p>'
        f"{''.join(parts)}</section>"
    )


def _solved(sheet: Sheet, place: int, card: Card, question: Question) -> str:
    parts = [
        f"<h3>{place}. {inline(sheet.say(card, 'title'))}</h3>",
        f'<p class="right" id="right-{escape(card.name)}">{_right(sheet, card, question)}</p>',
        html(sheet.say(card, "reveal")),
    ]
    filled = [
        Board(tuple(replace(panel, before="") for panel in shown.panels if is_blank(panel)))
        for shown in card.pictures
        if isinstance(shown, Board)
    ]
    pictures = [each for each in filled if each.panels] + list(card.reveal)
    parts += [picture(sheet, card, each, answers=True) for each in pictures]
    if sheet.texts.has(card.name, "takeaway"):
        parts.append(takeaway(sheet, card))
    return f"<article>{''.join(parts)}</article>"


def _right(sheet: Sheet, card: Card, question: Question) -> str:
    match question:
        case NumberQuestion():
            return escape(exact(question.answer, question.tolerance))
        case CellQuestion():
            said = " · ".join(cells(card, sheet.lang, question.panel, question.right))
            return f"{inline(sheet.say(card, f'panel.{question.panel}'))}: {escape(said)}"
        case ChoiceQuestion():
            return inline(sheet.say(card, f"option.{question.right}"))


def exact(answer: float | int, tolerance: float) -> str:
    """An answer with as many digits as its tolerance asks for.

    >>> exact(0.8909, 0.006), exact(64, 0.5)
    ('0.891', '64')
    """
    if float(answer).is_integer():
        return number(float(answer), 0)
    digits = math.ceil(-math.log10(tolerance)) if tolerance > 0 else MOST_DECIMALS
    return number(float(answer), min(max(digits, 0), MOST_DECIMALS))


def cells(card: Card, lang: Language, name: str, found: Collection[Cell]) -> list[str]:
    """Cells of a card's panel in words; rows that are there as a whole are named as rows."""
    panel = next(
        panel
        for shown in card.pictures
        if isinstance(shown, Board)
        for panel in shown.panels
        if panel.name == name
    )
    width = panel.values.shape[1]
    by_row: dict[int, list[int]] = {}
    for row, column in sorted(found):
        by_row.setdefault(row, []).append(column)
    said = []
    for row, columns in by_row.items():
        of_row = _name(panel.rows, row)
        if len(columns) == width > 1:
            said.append(text(lang, "worksheet.row", row=of_row))
            continue
        said += [
            text(lang, "worksheet.cell", row=of_row, column=_name(panel.columns, column))
            for column in columns
        ]
    return said


def _name(names: tuple[str, ...], place: int) -> str:
    return f"{names[place]} ({place})" if names else str(place)
