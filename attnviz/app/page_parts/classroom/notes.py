"""The teacher's notes on a card: the answer, what the class will say and why, what to ask next.

In: the card as the presenter has it. Out: sentences for the teacher alone, beside the button that
reveals. Each mistake that the card expects stands with what it shows.
"""

import streamlit as st

from attnviz.app.page_parts.learn.card_shown import CardShown
from attnviz.app.session import messages
from attnviz.i18n import labelled, text
from attnviz.teach.classroom.room import Tally
from attnviz.teach.classroom.tally import answer_bars
from attnviz.teach.lessons.cards.symbols import with_formulas


def show(shown: CardShown) -> None:
    """Draw the notes."""
    lang, card = shown.lang, shown.card
    answers = answer_bars(card, shown.texts, lang, Tally({}, 0))
    right = " · ".join(messages.plain(answer.words) for answer in answers if answer.right)
    st.markdown(labelled(text(lang, "learn.answer"), right))
    st.markdown(shown.say("reveal"))
    st.markdown(f"**{text(lang, 'class.will_say')}**")
    for answer in answers:
        key = f"feedback.{answer.label.removeprefix('not_')}"
        if not answer.right and shown.texts.has(card.name, key):
            st.markdown(f"- {messages.plain(answer.words)} → {shown.say(key)}")
    st.markdown(labelled(text(lang, "class.ask_next"), with_formulas(shown.texts.discuss)))
