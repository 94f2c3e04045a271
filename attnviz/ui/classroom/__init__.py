"""Teacher mode: one page leads, the others follow, all on this server.

In: the view's `room` (the class), `host` (the presenter's key) and `seat` (a member's id). Out: the
presenter's page, a follower's page, or what leads into a class. A class is drawn from its room at
each run; `listening` tells pages when to run.
"""

import streamlit as st

from attnviz.errors import BadInput
from attnviz.i18n import Language, text
from attnviz.ui.classroom import follower, offer, presenter
from attnviz.ui.learn import pointing
from attnviz.ui.page import frame
from attnviz.ui.server.class_socket import rooms
from attnviz.ui.session import messages, state

__all__ = ["offer", "show"]


def show() -> bool:
    """Draw the class that the address names; False where it names none."""
    lang, view = state.language(), state.current()
    if not view.room:
        pointing.point(None)
        return False
    try:
        leads = rooms().is_presenter(view.room, view.host)
    except BadInput as error:
        _ended(lang, error)
        return True
    if leads:
        presenter.show(lang)
    else:
        follower.show(lang)
    return True


def _ended(lang: Language, error: BadInput) -> None:
    """Say that there is no such class, and offer the ways out."""
    frame.open_page("learn")
    messages.say(lang, error)
    st.button(
        text(lang, "class.to_lessons"), key=state.widget_key("class.out"), on_click=offer.leave
    )
    offer.join(lang)
