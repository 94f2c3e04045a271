"""The ways into a class, and onto paper: join a class, teach this lesson, print it, invite to it.

In: the view, and the address of this page. Out: widgets below the lessons and below a card; a new
room, or the code of one, in the view; code, link and QR code of a class, and the address of the
page for its wall.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from urllib.parse import urlencode, urlsplit

import streamlit as st

from attnviz.app.frame.link import THIS_MACHINE, qr_code
from attnviz.app.page_parts.classroom import card_order, seats
from attnviz.app.page_parts.learn import open_card, pointer
from attnviz.app.server import course_lessons, visitors
from attnviz.app.server.class_socket import rooms
from attnviz.app.session import current, messages, store, widgets
from attnviz.app.session.view import Seat
from attnviz.errors import AttnVizError
from attnviz.i18n import Language, labelled, text
from attnviz.teach.classroom.rooms import normal
from attnviz.teach.classroom.stage import Stage
from attnviz.teach.lessons.cards.glossary import CardPath
from attnviz.teach.lessons.cards.times import planned_cards
from attnviz.teach.lessons.paper.worksheet import LAST_SEED

FIRST_CARD = "class.first_card"  # where a class was opened, until it has begun
CODE_CHARS = 40
EXAMPLE = "K7Q-M2X"
PANEL_QR_PX = 190


def show() -> None:
    """Draw the way to a class below the list of lessons, or the teacher's tools below a card."""
    lang, slug = current.language(), current.view().learn.lesson
    if slug not in course_lessons.slugs():
        teach, paper = text(lang, "class.teach_title"), text(lang, "worksheet.title")
        st.markdown(text(lang, "class.teach_list", teach=teach, worksheet=paper))
        return
    with st.container(horizontal=True, gap="small"):
        with st.popover(text(lang, "class.teach_title")):
            st.markdown(text(lang, "class.teach_body"))
            card_order.choose(lang, slug)
            if st.button(text(lang, "class.teach"), key=widgets.key("class.teach"), type="primary"):
                _teach(lang, slug)
        with st.popover(text(lang, "worksheet.title")):
            _paper(lang, slug)


def _teach(lang: Language, slug: str) -> None:
    """Open a class at the card of this page."""
    card = open_card.open_card(course_lessons.lesson(slug)).name
    try:
        values, plan = current.view().learn.values, card_order.plan()
        stage = Stage(slug, card, values, plan=plan, begun=False)
        room = rooms().create(stage, store.visitor(), visitors.address())
    except AttnVizError as error:
        messages.show(lang, error)
        return
    view = current.view()
    current.update(
        replace(view, classroom=Seat(room.code, room.key), learn=replace(view.learn, card=card))
    )
    store.put(FIRST_CARD, (slug, card, current.view().learn.answers))
    st.rerun()


def teach_plan(minutes: int) -> None:
    """Open a class at the first card of a plan."""
    first = planned_cards(minutes)[0]
    open_card.open_at(first.slug, first.card)
    card_order.go_by(minutes)
    _teach(current.language(), first.slug)


def begin() -> None:
    """Make the panel of the presenter small: the class runs."""
    store.put(FIRST_CARD, None)


def _paper(lang: Language, slug: str) -> None:
    st.markdown(text(lang, "worksheet.body"))
    seed = st.number_input(
        text(lang, "worksheet.number"),
        min_value=0,
        max_value=LAST_SEED,
        value=1,
        key=widgets.key("worksheet.seed"),
        help=text(lang, "worksheet.number_help"),
    )
    st.download_button(
        text(lang, "worksheet.download"),
        data=partial(_sheet, slug, lang, int(seed), server()),
        file_name=f"attnviz-{slug}-{int(seed)}-{lang}.html",
        mime="text/html",
        on_click="ignore",
        key=widgets.key("worksheet.download"),
    )
    names = course_lessons.lesson(slug).recipes
    handout_button(lang, [(slug, recipe.name) for recipe in names], slug)


def handout_button(lang: Language, cards: Sequence[CardPath], name: str) -> None:
    """A button to a page to print: the sentences to keep of these cards, and their terms."""
    st.download_button(
        text(lang, "handout.download"),
        data=partial(_handout, tuple(cards), lang),
        file_name=f"attnviz-handout-{name}-{lang}.html",
        mime="text/html",
        on_click="ignore",
        key=widgets.key(f"handout.{name}"),
        help=text(lang, "handout.help"),
    )


def handout_of_plan(lang: Language, minutes: int) -> None:
    """The handout of a class that goes by a plan."""
    cards = [(card.slug, card.card) for card in planned_cards(minutes)]
    handout_button(lang, cards, f"plan-{minutes}")


def _handout(cards: tuple[CardPath, ...], lang: Language) -> str:
    from attnviz.teach.course import paper

    return paper.handout(cards, lang, course_lessons.capture)


def _sheet(slug: str, lang: Language, seed: int, server: str) -> str:
    """The worksheet as HTML; torch is imported already, since the card above needed it."""
    from attnviz.teach.course import paper

    return paper.sheet(slug, lang, seed, course_lessons.capture, server, qr_code)


def join(lang: Language) -> None:
    """A line with a small field for the code of a class."""
    with st.form(widgets.key("class.join"), border=False):
        with st.container(horizontal=True, vertical_alignment="center"):
            title = labelled(text(lang, "class.join_title"), text(lang, "class.join_body"))
            st.markdown(title, width="content")
            typed = st.text_input(
                text(lang, "class.code"),
                key=widgets.key("class.code"),
                max_chars=CODE_CHARS,
                placeholder=EXAMPLE,
                width=160,
                label_visibility="collapsed",
            )
            submitted = st.form_submit_button(text(lang, "class.join"))
    if submitted and typed.strip():
        seats.sit(Seat(normal(typed)[:CODE_CHARS]))
        st.rerun()


def link(**further: str) -> str:
    """The address at which followers join: this page's server, and the room alone."""
    return f"{server()}/learn?{urlencode({'room': current.view().classroom.room, **further})}"


def server() -> str:
    """The address of the app, as this browser reaches it."""
    here = urlsplit(st.context.url or "")
    folder = here.path.rsplit("/learn", 1)[0] if "/learn" in here.path else ""
    return f"{here.scheme}://{here.netloc}{folder}" if here.netloc else folder


def invitation(lang: Language, *, begins: bool) -> None:
    """Code, link and QR code; where a class `begins` also a note if nobody else reaches the app."""
    words, picture = st.columns([3, 1])
    with words:
        st.caption(text(lang, "class.invite"))
        st.title(current.view().classroom.room, anchor=False)
        st.code(link(), language=None, wrap_lines=True)
        if begins and urlsplit(link()).hostname in THIS_MACHINE:
            st.markdown(text(lang, "class.local"))
        st.caption(text(lang, "class.yours"))
    with picture:
        st.image(qr_code(link()), width=PANEL_QR_PX, alt=text(lang, "take.qr"))


def leave_button(lang: Language) -> None:
    """A button for followers to leave the class."""
    st.button(
        text(lang, "class.leave"),
        key=widgets.key("class.leave"),
        type="tertiary",
        on_click=leave,
    )


def leave() -> None:
    """Leave the class."""
    seats.sit(Seat())
    card_order.go_by(0)
    store.put(FIRST_CARD, None)
    pointer.point(None)
