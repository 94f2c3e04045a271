"""The page for the wall: one screen with the card, its counts and the code; bars after the reveal.

In: the room's stage. Out: a page that says nothing which the class is not to see. It has a seat of
its own, is counted nowhere and answers nothing; it knows no key of the presenter. Cards and counts
come to its canvas by the class's socket.
"""

from dataclasses import replace
from functools import partial

import streamlit as st

from attnviz.app.frame.link import qr_rows
from attnviz.app.host.draw import draw
from attnviz.app.page_parts.classroom import (
    activity,
    cell_question,
    entry,
    follower,
    reach,
    seats,
    staged_card,
    tally,
)
from attnviz.app.server.class_socket import rooms
from attnviz.app.session import current, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.i18n import Language
from attnviz.pictures import class_card
from attnviz.teach.classroom.room import Tally
from attnviz.types import ignore


def show(lang: Language) -> None:
    """Draw the page."""
    seat = current.view().classroom
    own = partial(rooms().join, seat.room, seat.seat or None, watches=True)
    seats.sit(replace(seat, seat=reach.tried(own, seat.seat)))
    with st.container(key=widgets.key("class.wall")):
        _stage(lang)


@fragment()
def _stage(lang: Language) -> None:
    stage = follower.stage_of_page(lang)
    if stage is None:
        return
    room = current.view().classroom.room
    if stage.activity:
        with messages.guard(lang):
            question = staged_card.shown_on(stage, room, lang)
            st.markdown(f"**{room}** · {question.say('title')}")
            activity.show(lang, stage, wall=True)
        tally.listener(lang, "stage", stage.version)
        return
    with messages.guard(lang):
        counts = reach.tried(partial(rooms().tally, room, stage.name), Tally({}, 0))
        view = replace(
            follower.card_view(lang, stage),
            place="wall",
            present=counts.present,
            answered=counts.answered,
            link=entry.link(),
            qr=qr_rows(entry.link()),
        )
        draw(class_card.CANVAS, view, "class.card", lang, {"heard": ignore})
        shown = staged_card.shown_on(stage, room, lang)
        follower.draw_by_page(shown)
        cell_question.show(shown, stage, answers=False)
