"""The presenter's page: the page Learn, and above it the class: code, link, and the answers.

In: the view, whose card, values and answers are what the class sees. Out: the stage of the room,
newly set at each run; a bar that runs when the class changes.
"""

from urllib.parse import urlsplit

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.lessons.cards import progress
from attnviz.lessons.cards.texts import lesson_texts
from attnviz.lessons.classroom.room import Stage
from attnviz.ui import learn
from attnviz.ui.classroom import entry, tally
from attnviz.ui.learn import cards, open_card, pointing
from attnviz.ui.learn.open_card import OpenCard
from attnviz.ui.learn.pointing import Pointing
from attnviz.ui.server import cache
from attnviz.ui.server.class_socket import rooms
from attnviz.ui.session import current, messages, store, widgets
from attnviz.ui.session.fragment import fragment

SHOWN = "class.shown"
STAGE = "class.stage"
LOCAL = ("127.0.0.1", "localhost", "::1")


def show(lang: Language) -> None:
    """Draw the bar and the page below it."""
    slug = current.view().learn.lesson
    if slug not in cache.lesson_slugs():
        _bar(lang, None)
        learn.show()
        return
    lesson = cache.lesson(slug)
    if open_card.remove_unknown(lesson):
        st.rerun()
    opened = open_card.open_card(lesson)
    _present(opened)
    store.put(widgets.RERUN, (STAGE,))
    _bar(lang, opened)
    cards.show(lang, opened)


@fragment(STAGE)
def _present(opened: OpenCard) -> None:
    """Show the card of this page, with its values and answers, to the class.

    Runs alone when a head was switched in a real picture: the browser has shown it already.
    """
    view, name, card = current.view(), opened.name, opened.card()
    target = pointing.pointing()
    if target is None or not target.leads or target.card != name:
        target = Pointing(leads=True, card=name)
        pointing.point(target)
    stage = Stage(
        opened.lesson.slug,
        name,
        settings=view.learn.values if view.learn.card == name else "",
        selection=pointing.selection(target, card),
        shown=store.get(SHOWN) == name,
        revealed=card.question is not None and not progress.is_open(card, opened.answers),
    )
    rooms().show(view.classroom.room, view.classroom.host, stage)


def _bar(lang: Language, opened: OpenCard | None) -> None:
    with st.container(border=True, key=widgets.key("class.bar")):
        left, right = st.columns([3, 2])
        with left:
            _invitation(lang)
        with right:
            _tally(lang)
        with st.container(horizontal=True):
            if opened is not None:
                _switches(lang, opened)
            st.button(text(lang, "class.end"), key=widgets.key("class.end"), on_click=_end)


def _invitation(lang: Language) -> None:
    """The code, large enough for a wall, and the link with it."""
    code, link = current.view().classroom.room, _link()
    st.caption(text(lang, "class.invite"))
    st.title(code, anchor=False)
    st.code(link, language=None, wrap_lines=True)
    if urlsplit(link).hostname in LOCAL:
        st.markdown(text(lang, "class.local"))
    st.caption(text(lang, "class.yours"))


def _link() -> str:
    """The address at which followers join: this page's server, and the room alone."""
    here = urlsplit(st.context.url or "")
    server = f"{here.scheme}://{here.netloc}" if here.netloc else ""
    folder = here.path.rsplit("/learn", 1)[0] if "/learn" in here.path else ""
    return f"{server}{folder}/learn?room={current.view().classroom.room}"


def _switches(lang: Language, opened: OpenCard) -> None:
    """Buttons to reveal, and to show how the class answered; for a card with a question."""
    card, name = opened.card(), opened.name
    if card.question is None:
        return
    is_open = progress.is_open(card, opened.answers)
    st.button(
        text(lang, "class.reveal" if is_open else "class.hide"),
        key=widgets.key("class.reveal"),
        type="primary" if is_open else "secondary",
        on_click=open_card.answer,
        args=(name, progress.SHOWN if is_open else ""),
    )
    shown = store.get(SHOWN) == name
    st.button(
        text(lang, "class.hide_answers" if shown else "class.show_answers"),
        key=widgets.key("class.show"),
        on_click=store.put,
        args=(SHOWN, "" if shown else name),
    )


@fragment()
def _tally(lang: Language) -> None:
    """The number of members present and their answers; runs when these change."""
    room = current.view().classroom.room
    with messages.guard(lang):
        changes = rooms().changes(room)
        stage = rooms().stage(room)
        counts = rooms().tally(room, stage.name)
        here = text(lang, "class.here", present=counts.present, answered=counts.answered)
        st.markdown(f"**{here}**")
        card = open_card.card_of_stage(stage.lesson, stage.card, stage.settings).card()
        tally.show(lang, card, lesson_texts(stage.lesson, lang), counts, stage.revealed)
        tally.listener(lang, "changes", changes)


def _end() -> None:
    """End the class: its pages are notified, and nothing of it is kept."""
    seat = current.view().classroom
    rooms().close(seat.room, seat.host)
    entry.leave()
