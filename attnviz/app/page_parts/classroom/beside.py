"""The line of a class on the other pages of the app: who leads shows them, who follows goes along.

In: the page. Out: a line above it, with the way out; the presenter's stage, set anew at each run of
the page and after each choice in a picture.
"""

from dataclasses import replace

import streamlit as st

from attnviz.app.page_parts.classroom import class_pages, entry, reach, sentences, tally
from attnviz.app.page_parts.learn import pointer
from attnviz.app.server.class_socket import rooms
from attnviz.app.session import current, embedding, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.errors import AttnVizError, BadInput
from attnviz.i18n import Language, text
from attnviz.pictures.shared.pages import Page
from attnviz.teach.classroom.stage import LEARN

STAGE = "class.stage_beside"


def show(lang: Language, page: Page) -> None:
    """Draw the line, if the session is in a class."""
    seat = current.view().classroom
    if page == LEARN or not seat.room or embedding.is_embedded():
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
