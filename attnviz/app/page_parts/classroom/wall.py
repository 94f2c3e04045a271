"""The page for the wall: the code, its QR code, and the card; bars only after the reveal.

In: the room's stage. Out: a page that says nothing which the class is not to see. It has a seat of
its own, is counted nowhere and answers nothing; it knows no key of the presenter.
"""

from dataclasses import replace
from functools import partial

import streamlit as st

from attnviz.app.page_parts.classroom import class_pages, follower, invitation, reach, seats, tally
from attnviz.app.page_parts.learn import pointer
from attnviz.app.server.class_socket import rooms
from attnviz.app.session import current, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.errors import AttnVizError, BadInput
from attnviz.i18n import Language, text


def show(lang: Language) -> None:
    """Draw the page."""
    seat = current.view().classroom
    own = partial(rooms().join, seat.room, seat.seat or None, watches=True)
    seats.sit(replace(seat, seat=reach.tried(own, seat.seat)))
    with st.container(key=widgets.key("class.wall")):
        card, code = st.columns([3, 1])
        with code:
            invitation.for_all(lang)
            _count(lang)
        with card:
            _stage(lang)


@fragment()
def _stage(lang: Language) -> None:
    seat = current.view().classroom
    try:
        stage = reach.stage(seat.room)
    except BadInput:
        st.rerun(scope="app")
    except AttnVizError as error:
        messages.show(lang, error)
        tally.listener(lang, "stage", reach.NOT_DRAWN)
        return
    if follower.leaves_learn(stage):
        st.rerun(scope="app")
    with messages.guard(lang):
        class_pages.note(stage)
        follower.draw(lang, stage, answers=False)
    chosen = pointer.as_selection(pointer.read_chosen(stage.selection))
    tally.listener(lang, "stage", stage.version, chosen)


@fragment()
def _count(lang: Language) -> None:
    """The number of those who are here and who have answered; runs when it changes."""
    seat = current.view().classroom
    try:
        counted = reach.tried(partial(rooms().changes, seat.room), reach.NOT_DRAWN)
        name = reach.stage(seat.room).name
        counts = reach.tried(partial(rooms().tally, seat.room, name), None)
    except BadInput:
        st.rerun(scope="app")
    if counts is not None:
        here = text(lang, "class.here", present=counts.present, answered=counts.answered)
        st.markdown(f"**{here}**")
    tally.listener(lang, "wall", counted)
