"""The page Learn: the list of lessons, or one card of the lesson that the address names.

In: the view. Out: widgets that move through the cards, set values and take answers. Cards are built
by `attnviz.teach.course` at each run; their sentences are those of `attnviz.teach.lessons`.
"""

import streamlit as st

from attnviz.app.page_parts.learn import cards, index, open_card
from attnviz.app.page_parts.learn.index import ClassWays
from attnviz.app.server import course_lessons
from attnviz.app.session import current, messages
from attnviz.errors import BadInput


def show(ways: ClassWays | None = None) -> None:
    """Draw the list of lessons, with the `ways` into a class, or the open card."""
    lang, slug = current.language(), current.view().learn.lesson
    if not slug:
        index.show(lang, ways)
        return
    try:
        lesson = course_lessons.lesson(slug)
    except BadInput as error:
        messages.show(lang, error)
        index.show(lang, ways)
        return
    if open_card.follow_moved() or open_card.remove_unknown(lesson):
        st.rerun()  # the address is written anew; a notice above the page names what is unknown
    cards.show(lang, open_card.open_card(lesson))
