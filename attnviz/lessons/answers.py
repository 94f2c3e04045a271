"""The key of a worksheet: what `grade` takes for right, with the reason, on a page of its own.

In: a `Sheet`. Out: HTML. Numbers have as many digits as their tolerance asks for.
"""

import math
from dataclasses import replace
from html import escape

from attnviz.lessons.card import (
    Board,
    Card,
    Cell,
    CellQuestion,
    ChoiceQuestion,
    NumberQuestion,
    Question,
)
from attnviz.lessons.markup import html, inline
from attnviz.lessons.printed import number
from attnviz.lessons.sheet import Sheet, picture, takeaway

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
        Board(tuple(replace(panel, before="") for panel in shown.panels if panel.hidden))
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
            return escape(_exact(question))
        case CellQuestion():
            said = _cells(sheet, card, question)
            return f"{inline(sheet.say(card, f'panel.{question.panel}'))}: {said}"
        case ChoiceQuestion():
            return inline(sheet.say(card, f"option.{question.right}"))


def _exact(question: NumberQuestion) -> str:
    """The answer with as many digits as its tolerance asks for."""
    if float(question.answer).is_integer():
        return number(float(question.answer), 0)
    digits = math.ceil(-math.log10(question.tolerance)) if question.tolerance > 0 else MOST_DECIMALS
    return number(float(question.answer), min(max(digits, 0), MOST_DECIMALS))


def _cells(sheet: Sheet, card: Card, question: CellQuestion) -> str:
    """Every right cell; rows that are right as a whole are named as rows."""
    panel = next(
        panel
        for shown in card.pictures
        if isinstance(shown, Board)
        for panel in shown.panels
        if panel.name == question.panel
    )
    width = panel.values.shape[1]
    by_row: dict[int, list[Cell]] = {}
    for cell in sorted(question.right):
        by_row.setdefault(cell[0], []).append(cell)
    said = []
    for row, cells in by_row.items():
        if len(cells) == width > 1:
            said.append(sheet.own("row", row=_name(panel.rows, row)))
            continue
        for _, column in cells:
            names = {"row": _name(panel.rows, row), "column": _name(panel.columns, column)}
            said.append(sheet.own("cell", **names))
    return " · ".join(said)


def _name(names: tuple[str, ...], place: int) -> str:
    return f"{names[place]} ({place})" if names else str(place)
