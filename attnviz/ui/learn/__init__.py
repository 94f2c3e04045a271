"""The page Learn: the list of lessons, or one card of the lesson that the address names.

In: the view. Out: widgets that move through the cards, set what can be set and take answers. What a
card shows is built by `attnviz.course` at each run; its sentences are those of `attnviz.lessons`.
"""

import streamlit as st

from attnviz.errors import BadInput
from attnviz.ui.learn import cards, index, place
from attnviz.ui.server import cache
from attnviz.ui.session import messages, state


def show() -> None:
    """Draw the list of lessons, or the current card."""
    lang, asked = state.language(), state.current().lesson
    if not asked:
        index.show(lang)
        return
    try:
        lesson = cache.lesson(asked)
    except BadInput as error:
        messages.say(lang, error)
        index.show(lang)
        return
    if place.adjust(lesson):
        st.rerun()  # what was replaced is said above the page, and the address is written anew
    cards.show(lang, place.of(lesson))
