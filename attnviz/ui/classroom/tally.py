"""Parts that presenter and followers share: how the class answered, and the ear of a page.

In: a card and its tally; what a page heeds and the count that it has drawn. Out: bars with words
beside them, the right one marked by sign and word once it is revealed; a mounted listener.
"""

import streamlit as st

from attnviz.components import listener as ears
from attnviz.components.listener import Chosen, Heed, ListenerView
from attnviz.components.selection import ignore
from attnviz.i18n import Language, text
from attnviz.lessons.cards.card import Card
from attnviz.lessons.cards.texts import LessonTexts
from attnviz.lessons.classroom.room import Tally
from attnviz.lessons.classroom.tally import Bar, bars
from attnviz.ui.host.components import show_listener
from attnviz.ui.server import class_socket
from attnviz.ui.session import messages, state
from attnviz.views.texts import strings


def show(lang: Language, card: Card, texts: LessonTexts, tally: Tally, revealed: bool) -> None:
    """Draw one bar for each answer: those that the card knows, or were given before the reveal."""
    for bar in bars(card, texts, lang, tally, revealed):
        fraction = bar.count / tally.answered if tally.answered else 0.0
        st.progress(fraction, text=_said(lang, bar, revealed))


def _said(lang: Language, bar: Bar, revealed: bool) -> str:
    said = text(lang, "class.bar", said=messages.plain(bar.said), count=bar.count)
    return f"✓ **{text(lang, 'learn.right')}** {said}" if revealed and bar.right else said


def listener(lang: Language, heed: Heed, drawn: int, chosen: Chosen | None = None) -> None:
    """Have the fragment around this run again when the room is beyond what was drawn.

    The pictures of the page are told what was `chosen` by who leads.
    """
    view = state.current()
    seat = view.seat if heed == "stage" else ""
    shown = ListenerView(class_socket.FOLDER, view.room, seat, heed, drawn, chosen)
    data = ears.pack_listener(shown, strings(lang, ears.STRING_KEYS))
    show_listener(data, state.component_key(f"class.{heed}"), ignore)
