"""The data of a worksheet, and the parts that its pages share.

In: built cards, a language, a seed. Out: texts with their numbers, pictures as HTML. A picture that
runs on screen only is named, with its address.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from urllib.parse import urlencode

from attnviz.i18n import Language, text
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion.scenes import Motion
from attnviz.teach.lessons.cards.card import (
    Card,
    Chart,
    Control,
    LiveTraining,
    Picture,
    Program,
    RealHead,
    Typed,
    Value,
)
from attnviz.teach.lessons.cards.texts import LessonTexts, lesson_texts, say
from attnviz.teach.lessons.paper.markdown import inline
from attnviz.teach.lessons.paper.pictures import Say, board_html, chart_html, is_blank, matrix_html

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
