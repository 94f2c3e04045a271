"""Teacher mode: one page leads, the others follow, all on this server.

In: the view's `room` (the class), `host` (the presenter's key) and `seat` (a member's id). Out: the
presenter's page, a follower's page, or the ways into a class. A class is drawn from its room at
each run; `server.class_socket` tells pages when to run.
"""

import streamlit as st

from attnviz.errors import BadInput
from attnviz.i18n import Language, text
from attnviz.ui.classroom import entry, follower, presenter
from attnviz.ui.learn import pointing
from attnviz.ui.page import frame
from attnviz.ui.server.class_socket import rooms
from attnviz.ui.session import current, messages, widgets

__all__ = ["entry", "show"]


def show() -> bool:
    """Draw the class that the address names; False if it names none."""
    lang, seat = current.language(), current.view().classroom
    if not seat.room:
        pointing.point(None)
        return False
    try:
        leads = rooms().is_presenter(seat.room, seat.host)
    except BadInput as error:
        _unknown_class(lang, error)
        return True
    if leads:
        presenter.show(lang)
    else:
        follower.show(lang)
    return True


def _unknown_class(lang: Language, error: BadInput) -> None:
    """Say that there is no such class, with a button to the lessons and a box for another code."""
    frame.open_page("learn")
    messages.show(lang, error)
    st.button(text(lang, "class.to_lessons"), key=widgets.key("class.out"), on_click=entry.leave)
    entry.join(lang)
