"""Teacher mode: one page leads, the others follow, all on this server.

In: the view's `room` (the class), `host` (the presenter's key), `seat` (a member's id) and `wall`
(the projected page). Out: the presenter's page, a follower's page, the page for the wall, or the
ways into a class. A class is drawn from its room at each run; `server.class_socket` tells pages
when to run. `beside` and `page_to_follow` serve the other pages of the app.
"""

import streamlit as st

from attnviz.app.frame import frame
from attnviz.app.page_parts.classroom import (
    end_card,
    entry,
    follower,
    presenter,
    reach,
    report,
    seats,
    tally,
    wall,
)
from attnviz.app.page_parts.classroom.beside import show as beside
from attnviz.app.page_parts.classroom.class_pages import page_to_follow
from attnviz.app.page_parts.learn import pointer
from attnviz.app.server.class_socket import rooms
from attnviz.app.session import current, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.errors import AttnVizError, BadInput
from attnviz.i18n import Language, text
from attnviz.teach.classroom.store import out_of_reach

__all__ = ["beside", "entry", "page_to_follow", "show"]


def show() -> bool:
    """Draw the class that the address names; False if it names none."""
    lang, seat = current.language(), current.view().classroom
    if not seat.room:
        pointer.point(None)
        report.show(lang)
        return False
    try:
        leads = seats.enter()
    except BadInput as error:
        if seat.seat and error.code == "room_unknown":
            end_card.show(lang)
        else:
            _unknown_class(lang, error)
        return True
    except AttnVizError:
        _out_of_reach(lang)
        return True
    if leads:
        presenter.show(lang)
    elif seat.wall:
        wall.show(lang)
    else:
        follower.show(lang)
    return True


@fragment()
def _out_of_reach(lang: Language) -> None:
    """Say that the class does not answer, and run the page again once it does."""
    if reach.tried(lambda: rooms().count() >= 0, False):
        st.rerun(scope="app")
    messages.show(lang, out_of_reach())
    tally.listener(lang, "stage", reach.NOT_DRAWN)


def _unknown_class(lang: Language, error: BadInput) -> None:
    """Say that there is no such class, with a button to the lessons and a box for another code."""
    frame.open_page("learn", reads_alone=True)
    messages.show(lang, error)
    st.button(text(lang, "class.to_lessons"), key=widgets.key("class.out"), on_click=entry.leave)
    entry.join(lang)
