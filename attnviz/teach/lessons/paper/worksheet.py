"""A lesson on paper: one HTML page with print styles, its questions with room to answer, and a key.

In: the built cards of a lesson, a language, the seed of its numbers. Out: HTML that needs nothing
else: no script, no font, no network. The key stands on a page of its own at the end and gives the
answers that `grade` accepts. The questions take at most three pages of A4, in two columns; a card
that paper cannot do is named, with its address and QR code.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from importlib.resources import files
from urllib.parse import urlencode

from attnviz.i18n import DEFAULT, Language, tag, text
from attnviz.i18n.numbers import number as number_text
from attnviz.pictures.board import Board, BoardCell, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    Chart,
    ChoiceQuestion,
    Control,
    LiveTraining,
    NumberQuestion,
    Picture,
    Program,
    Question,
    RealHead,
    Slider,
    Typed,
    Value,
)
from attnviz.teach.lessons.cards.texts import LessonTexts, lesson_texts, say
from attnviz.teach.lessons.paper.markdown import html, inline, plain
from attnviz.teach.lessons.paper.pictures import Say, board_html, chart_html, is_blank, matrix_html

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
BLANK = '<span class="blank"></span>'
MAX_DECIMALS = 6
LAST_SEED = 9999  # of worksheets


@dataclass(frozen=True, eq=False)
class PrintedCard:
    """A card for paper, with the controls that it has on screen and their values."""

    card: Card
    controls: Sequence[tuple[Control, Value]] = ()


@dataclass(frozen=True, eq=False)
class Worksheet:
    """The data of a worksheet; `real` gives the weights of a real head if they fit on paper.

    `server` is the address of the app that made the sheet, for those who hold only the paper; `qr`
    draws an address as the SVG of a QR code.
    """

    slug: str
    lang: Language
    seed: int
    cards: Sequence[PrintedCard]
    real: Callable[[RealHead], Panel | None]
    server: str = ""
    qr: Callable[[str], str] | None = None

    @property
    def printed(self) -> list[PrintedCard]:
        """The cards that can be done on paper."""
        return [printed for printed in self.cards if self._is_for_paper(printed)]

    @property
    def left_out(self) -> list[Card]:
        """The cards that run on a screen only."""
        return [printed.card for printed in self.cards if not self._is_for_paper(printed)]

    def _is_for_paper(self, printed: PrintedCard) -> bool:
        """True for a question all of whose pictures can be printed, and without typing a text."""
        card = printed.card
        if card.question is None or any(isinstance(each, Typed) for each, _ in printed.controls):
            return False
        if card.reveal and all(isinstance(picture, LiveTraining) for picture in card.reveal):
            return False
        return not any(
            isinstance(picture, RealHead) and self.real(picture) is None
            for picture in card.pictures
        )

    @property
    def texts(self) -> LessonTexts:
        """The lesson's texts."""
        return lesson_texts(self.slug, self.lang)

    def say(self, card: Card, key: str) -> str:
        """A text of a card with its numbers, still Markdown."""
        return say(self.texts, card, key)

    def label(self, key: str, **values: object) -> str:
        """A text of the sheet, not of the lesson, as HTML."""
        return escape(text(self.lang, f"worksheet.{key}", **values))

    def address(self, card: Card) -> str:
        """The address of the card in the app."""
        return f"{self.server}/learn?{urlencode({'lesson': self.slug, 'card': card.name})}"

    def code(self, card: Card) -> str:
        """The QR code of the card's address as HTML; "" where no server is known."""
        if self.qr is None or not self.server:
            return ""
        return f'<span class="qr">{self.qr(self.address(card))}</span>'


def note(line: str) -> str:
    """A line of HTML in small print."""
    return f'<p class="note">{line}</p>'


def takeaway(sheet: Worksheet, card: Card) -> str:
    """The line to take away."""
    return f'<p class="takeaway">{inline(sheet.say(card, "takeaway"))}</p>'


def picture_html(sheet: Worksheet, card: Card, picture: Picture, answers: bool = False) -> str:
    """A picture of a card; with `answers`, its hidden numbers are filled in."""
    say: Say = partial(sheet.say, card)
    match picture:
        case Board():
            hidden = any(is_blank(picture, panel) for panel in picture.panels) and not answers
            fill_in = note(sheet.label("fill_in")) if hidden else ""
            return board_html(picture, say, answers, sheet.lang) + fill_in
        case Chart():
            return chart_html(picture, say, sheet.lang)
        case Program():
            return f"<pre>{escape(picture.source)}</pre>"
        case RealHead():
            return _real_head(sheet, card, picture)
        case Motion():
            return ""  # its numbers stand on the card's other pictures
        case LiveTraining():
            return note(sheet.label("live", address=sheet.address(card)))


def _real_head(sheet: Worksheet, card: Card, real: RealHead) -> str:
    """The head's weights as a table if there is room, else its address."""
    panel = sheet.real(real)
    names = {"head": f"L{real.layer}.H{real.head}", "model": real.model}
    if panel is None:
        return note(sheet.label("real", address=sheet.address(card), **names))
    caption = text(sheet.lang, "worksheet.weights", **names)
    return f'<div class="board">{matrix_html(panel, lambda _: caption)}</div>'


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
