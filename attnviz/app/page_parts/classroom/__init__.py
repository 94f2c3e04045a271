"""Teacher mode: one page leads, the others follow, all on this server.

In: the view's `room` (the class), `host` (the presenter's key), `seat` (a member's id) and `wall`
(the projected page). Out: the presenter's page, a follower's page, the page for the wall, or the
ways into a class. A class is drawn from its room at each run; `server.class_socket` tells pages
when to run. On the other pages of the app `beside` is a line with the way out, and the presenter's
stage, set anew at each run and after each choice in a picture; `page_to_follow` moves followers.
"""

from dataclasses import replace

import streamlit as st

from attnviz.app.frame import frame
from attnviz.app.page_parts.classroom import (
    class_pages,
    end_card,
    entry,
    follower,
    presenter,
    reach,
    report,
    seats,
    sentences,
    tally,
    wall,
)
from attnviz.app.page_parts.classroom.class_pages import page_to_follow
from attnviz.app.page_parts.learn import pointer
from attnviz.app.server.class_socket import rooms
from attnviz.app.session import address_bar, current, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.errors import AttnVizError, BadInput
from attnviz.i18n import Language, text
from attnviz.pictures.shared.pages import Page
from attnviz.teach.classroom.stage import LEARN
from attnviz.teach.classroom.store import out_of_reach

__all__ = ["beside", "entry", "page_to_follow", "show"]
STAGE = "class.stage_beside"


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


def beside(lang: Language, page: Page) -> None:
    """Draw the line, if the session is in a class."""
    seat = current.view().classroom
    if page == LEARN or not seat.room or address_bar.is_embedded():
        return
    if seat.host:
        widgets.rerun_too(STAGE)
        with st.container(horizontal=True, vertical_alignment="center"):
            _lead(lang, page)
    elif seat.seat:
        with st.container(horizontal=True, vertical_alignment="center"):
            _line(lang)
            entry.leave_button(lang)


@fragment(STAGE)
def _lead(lang: Language, page: Page) -> None:
    """Show this page to the class; runs alone when something was chosen in a picture."""
    seat, follows = current.view().classroom, class_pages.is_followed(page)
    try:
        stage = rooms().stage(seat.room)
        if follows:
            moved = replace(stage, page=page, query=class_pages.query_of_view())
            rooms().show(seat.room, seat.host, moved)
    except AttnVizError as error:
        messages.show(lang, error)
        return
    if follows:
        words = text(lang, "class.leads", code=seat.room)
    else:
        pages = " · ".join(text(lang, f"page.{name}.title") for name in class_pages.FOLLOWED_PAGES)
        words = text(lang, "class.leads_not", code=seat.room, pages=pages)
    st.caption(f"**{words}**")


@fragment()
def _line(lang: Language) -> None:
    """Say that this page follows, and run the page when the class has moved."""
    seat = current.view().classroom
    try:
        stage = reach.stage(seat.room)
    except BadInput:
        st.rerun(scope="app")
    except AttnVizError as error:
        messages.show(lang, error)
        tally.listener(lang, "stage", reach.NOT_DRAWN)
        return
    if class_pages.is_due(stage):
        st.rerun(scope="app")
    st.caption(f"**{text(lang, 'class.along', code=seat.room)}**")
    sentences.give(lang)
    chosen = class_pages.chosen_of(stage)
    tally.listener(lang, "stage", stage.version, pointer.as_selection(chosen))
