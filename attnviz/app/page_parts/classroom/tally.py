"""The answers of a class as bars, and the listener that has a page run when the class changes.

In: a card and its tally; what a page heeds and the count that it has drawn. Out: bars with words
beside them, the right one marked by sign and word once it is revealed; a mounted listener.
"""

from collections.abc import Iterable

import streamlit as st

from attnviz.app.host.draw import Events, draw
from attnviz.app.page_parts.classroom import seats
from attnviz.app.server import class_socket
from attnviz.app.session import current, messages
from attnviz.i18n import Language, text
from attnviz.pictures import class_messages
from attnviz.pictures.class_messages import Chosen, ClassMessagesView, Heed
from attnviz.teach.classroom.room import Tally
from attnviz.teach.classroom.tally import AnswerBar, answer_bars
from attnviz.teach.lessons.cards.card import Card
from attnviz.teach.lessons.cards.texts import LessonTexts
from attnviz.types import ignore


def show(lang: Language, card: Card, texts: LessonTexts, tally: Tally, revealed: bool) -> None:
    """Draw one bar for each answer that the card knows, or that was given before the reveal."""
    bars(lang, answer_bars(card, texts, lang, tally, revealed), tally.answered, revealed)


def bars(lang: Language, answers: Iterable[AnswerBar], n_answers: int, revealed: bool) -> None:
    """Draw a bar for each answer, as a part of all that were given."""
    for bar in answers:
        fraction = bar.count / n_answers if n_answers else 0.0
        st.progress(fraction, text=_label(lang, bar, revealed))


def _label(lang: Language, bar: AnswerBar, revealed: bool) -> str:
    said = messages.plain(bar.words)
    label = text(lang, "class.bar", said=said, count=bar.count)
    if bar.first:
        label = text(lang, "class.bar_votes", said=said, first=bar.first, count=bar.count)
    return f"✓ **{text(lang, 'learn.right')}** {label}" if revealed and bar.right else label


def listener(
    lang: Language,
    heed: Heed,
    drawn: int,
    chosen: Chosen | None = None,
    *,
    arrives: bool = False,
) -> None:
    """Have the fragment around this run again when the room has moved on from what was drawn.

    The pictures of the page are told the head and cell that the presenter has `chosen`; a listener
    that `arrives` is scrolled to.
    """
    classroom = current.view().classroom
    seat = classroom.host if heed == "changes" else classroom.seat
    view = ClassMessagesView(
        class_socket.FOLDER, classroom.room, seat, heed, drawn, chosen, arrives
    )
    on: Events = {"heard": ignore, "kept": seats.take_kept}
    draw(class_messages.CANVAS, view, f"class.{heed}", lang, on)
