"""What a worksheet is made from, and the parts that its pages share.

In: built cards, a language, a seed. Out: texts with their numbers, pictures as HTML. What runs on
screen only is named, with where to find it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from urllib.parse import urlencode

from attnviz.i18n import Language, text
from attnviz.lessons.cards.card import (
    Board,
    Card,
    Chart,
    Code,
    Control,
    Live,
    Panel,
    Picture,
    Real,
    Value,
)
from attnviz.lessons.cards.texts import LessonTexts, lesson_texts, say
from attnviz.lessons.paper.boards import Say, board, is_blank, matrix
from attnviz.lessons.paper.charts import chart
from attnviz.lessons.paper.markdown import inline

LAST_SEED = 9999  # of worksheets


@dataclass(frozen=True, eq=False)
class Printed:
    """A card as it is printed: with the controls that it has on screen and how they were set."""

    card: Card
    controls: Sequence[tuple[Control, Value]] = ()


@dataclass(frozen=True, eq=False)
class Sheet:
    """What a worksheet is made from; `real` gives a head's weights where these fit on it."""

    slug: str
    lang: Language
    seed: int
    cards: Sequence[Printed]
    real: Callable[[Real], Panel | None]

    @property
    def texts(self) -> LessonTexts:
        """The lesson's texts."""
        return lesson_texts(self.slug, self.lang)

    def say(self, card: Card, key: str) -> str:
        """A text of a card with its numbers, still Markdown."""
        return say(self.texts, card, key)

    def own(self, key: str, **values: object) -> str:
        """A text that is the sheet's own, as HTML."""
        return escape(text(self.lang, f"worksheet.{key}", **values))

    def address(self, card: Card) -> str:
        """Where the card is in the app."""
        return f"/learn?{urlencode({'lesson': self.slug, 'card': card.name})}"


def note(said: str) -> str:
    """A line in small print; HTML."""
    return f'<p class="note">{said}</p>'


def takeaway(sheet: Sheet, card: Card) -> str:
    """The line to take away."""
    return f'<p class="takeaway">{inline(sheet.say(card, "takeaway"))}</p>'


def picture(sheet: Sheet, card: Card, shown: Picture, answers: bool = False) -> str:
    """A picture of a card; with `answers`, what it keeps back too."""
    say: Say = partial(sheet.say, card)
    match shown:
        case Board():
            hidden = any(is_blank(panel) for panel in shown.panels) and not answers
            fill_in = note(sheet.own("fill_in")) if hidden else ""
            return board(shown, say, answers) + fill_in
        case Chart():
            return chart(shown, say)
        case Code():
            return f"<pre>{escape(shown.source)}</pre>"
        case Real():
            return _real(sheet, card, shown)
        case Live():
            return note(sheet.own("live", address=sheet.address(card)))


def _real(sheet: Sheet, card: Card, real: Real) -> str:
    """The head's weights as a table where there is room, else where to see it."""
    panel = sheet.real(real)
    said = {"head": f"L{real.layer}.H{real.head}", "model": real.model}
    if panel is None:
        return note(sheet.own("real", address=sheet.address(card), **said))
    caption = text(sheet.lang, "worksheet.weights", **said)
    return f'<div class="board">{matrix(panel, lambda _: caption)}</div>'
