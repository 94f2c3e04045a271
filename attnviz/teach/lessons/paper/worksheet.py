"""A lesson on paper: one HTML page with print styles, its questions with room to answer, and a key.

In: the built cards of a lesson, a language, the seed of its numbers. Out: HTML that needs nothing
else: no script, no font, no network. The key stands on a page of its own at the end and gives the
answers that `grade` accepts. The questions take at most three pages of A4, in two columns; a card
that paper cannot do is named, with its address and QR code.
"""

import math
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from html import escape
from importlib.resources import files

from attnviz.i18n import DEFAULT, Language, tag, text
from attnviz.i18n.numbers import number as number_text
from attnviz.pictures.board import Board, BoardCell
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    ChoiceQuestion,
    Control,
    NumberQuestion,
    Picture,
    Question,
    Slider,
    Typed,
    Value,
)
from attnviz.teach.lessons.paper.markdown import html, inline, plain
from attnviz.teach.lessons.paper.pictures import board_html, is_blank
from attnviz.teach.lessons.paper.sheet import PrintedCard, Worksheet, note, picture_html, takeaway

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
BLANK = '<span class="blank"></span>'
MAX_DECIMALS = 6


def worksheet_html(sheet: Worksheet) -> str:
    """The worksheet as one page."""
    title = escape(sheet.texts.title)
    style = (
        files("attnviz.teach.lessons.paper").joinpath("worksheet.css").read_text(encoding="utf-8")
    )
    cards = "".join(_card(sheet, number, card) for number, card in enumerate(sheet.printed, 1))
    return f"""<!doctype html>
<html lang="{tag(sheet.lang)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{title} · {sheet.label("title")}</title>
<style>{style}</style>
</head>
<body lang="{sheet.lang}">
<header>
{sheet.code(sheet.cards[0].card)}
<h1>{title}</h1>
<p class="summary">{escape(sheet.texts.summary)}</p>
<p class="who"><span>{sheet.label("name")}</span><span>{sheet.label("date")}</span>
<span class="seed">{sheet.label("seed", seed=str(sheet.seed))}</span></p>
</header>
<main>{cards}{_on_screen(sheet)}</main>
{_key(sheet)}
</body>
</html>
"""


def _card(sheet: Worksheet, number: int, printed: PrintedCard) -> str:
    card = printed.card
    parts = [f"<h2>{number}. {inline(sheet.say(card, 'title'))}</h2>"]
    parts.append(html(sheet.say(card, "text")))
    parts += [_setting(sheet, card, control, value) for control, value in printed.controls]
    given = [picture for picture in card.situation if not _has_only_names(picture)]
    parts += [picture_html(sheet, card, picture) for picture in (*given, *card.pictures)]
    if card.question is not None:
        parts.append(_question(sheet, card, card.question))
    return f"<article>{''.join(parts)}</article>"


def _has_only_names(picture: Picture) -> bool:
    """True for matrices all of whose numbers wait for the answer: nobody fills these in."""
    return isinstance(picture, Board) and all(is_blank(picture, of) for of in picture.panels)


def _on_screen(sheet: Worksheet) -> str:
    """The cards that paper cannot do, each with the address of the live card."""
    if not sheet.left_out:
        return ""
    items = "".join(
        f"<li>{sheet.code(card)}{inline(sheet.say(card, 'title'))}<br>"
        f"<small>{escape(sheet.address(card))}</small></li>"
        for card in sheet.left_out
    )
    heading = sheet.label("screen")
    return f'<section class="screen"><h2>{heading}</h2><ul>{items}</ul></section>'


def _setting(sheet: Worksheet, card: Card, control: Control, value: Value) -> str:
    name = f"control.{control.name}"
    if isinstance(control, Slider):
        words = number_text(sheet.lang, float(value), "g")
    elif isinstance(control, Typed):
        words = escape(str(value))
    else:
        words = inline(sheet.say(card, f"{name}.{value}"))
    return f"<p>{inline(sheet.say(card, name))}: <strong>{words}</strong></p>"


def _question(sheet: Worksheet, card: Card, question: Question) -> str:
    match question:
        case NumberQuestion():
            space = f'<div class="work"></div><p class="answer">{sheet.label("answer")}{BLANK}</p>'
        case CellQuestion():
            caption = sheet.say(card, f"panel.{question.panel}")
            space = note(sheet.label("circle", panel=plain(caption)))
        case ChoiceQuestion():
            space = _options(sheet, card, question)
    return f'<section class="ask">{html(sheet.say(card, "question"))}{space}</section>'


def _options(sheet: Worksheet, card: Card, question: ChoiceQuestion) -> str:
    items = []
    for option in question.options:
        words = inline(sheet.say(card, f"option.{option}"))
        board = question.pictures.get(option)
        picture = board_html(board, partial(sheet.say, card), lang=sheet.lang) if board else ""
        items.append(f'<li><span class="box"></span>{words}{picture}</li>')
    return f'<ul class="options">{"".join(items)}</ul>'


def _key(sheet: Worksheet) -> str:
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
        row_name = _axis_name(panel.rows, row)
        if len(columns) == width > 1:
            words.append(text(lang, "worksheet.row", row=row_name))
            continue
        words += [
            text(lang, "worksheet.cell", row=row_name, column=_axis_name(panel.columns, column))
            for column in columns
        ]
    return words


def _axis_name(names: tuple[str, ...], index: int) -> str:
    return f"{names[index]} ({index})" if names else str(index)
