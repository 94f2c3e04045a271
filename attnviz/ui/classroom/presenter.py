"""The presenter's page: Learn as ever, and above it the class: code, link, who answered what.

In: the view, whose card, values and answers are what the class sees. Out: the stage of the room,
newly set at each run; a bar that runs by itself when the class changes.
"""

from urllib.parse import urlsplit

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.lessons.cards import progress
from attnviz.lessons.cards.texts import lesson_texts
from attnviz.lessons.classroom.room import Stage
from attnviz.ui import learn
from attnviz.ui.classroom import offer, spread
from attnviz.ui.learn import cards, place, pointing
from attnviz.ui.learn.place import Place
from attnviz.ui.learn.pointing import Pointing
from attnviz.ui.server import cache
from attnviz.ui.server.class_socket import rooms
from attnviz.ui.session import messages, state

SHOWN = "class.shown"
STAGE = "class.stage"
LOCAL = ("127.0.0.1", "localhost", "::1")


def show(lang: Language) -> None:
    """Draw the bar and the page below it."""
    slug = state.current().lesson
    if slug not in cache.lesson_slugs():
        _bar(lang, None)
        learn.show()
        return
    if place.adjust(cache.lesson(slug)):
        st.rerun()
    at = place.of(cache.lesson(slug))
    _present(at)
    state.keep(state.AGAIN, (STAGE,))
    _bar(lang, at)
    cards.show(lang, at)


@st.fragment(key=STAGE)
def _present(at: Place) -> None:
    """Put the card of this page, as it stands, before the class.

    Runs alone when a head was switched in a real picture: the browser has shown it already.
    """
    view, name = state.current(), at.recipe.name
    found = pointing.pointing()
    if found is None or not found.leads or found.card != name:
        found = Pointing(leads=True, card=name)
        pointing.point(found)
    card = at.card()
    stage = Stage(
        at.lesson.slug,
        name,
        settings=view.values if view.card == name else "",
        selection=pointing.selection(found, card),
        shown=state.kept(SHOWN) == name,
        revealed=card.question is not None and not progress.is_open(card, at.answers),
    )
    rooms().show(view.room, view.host, stage)


def _bar(lang: Language, at: Place | None) -> None:
    with st.container(border=True, key=state.widget_key("class.bar")):
        left, right = st.columns([3, 2])
        with left:
            _invitation(lang)
        with right:
            _tally(lang)
        with st.container(horizontal=True):
            if at is not None:
                _switches(lang, at)
            st.button(text(lang, "class.end"), key=state.widget_key("class.end"), on_click=_end)


def _invitation(lang: Language) -> None:
    """The code, large enough for a wall, and the link with it."""
    code, link = state.current().room, _link()
    st.caption(text(lang, "class.invite"))
    st.title(code, anchor=False)
    st.code(link, language=None, wrap_lines=True)
    if urlsplit(link).hostname in LOCAL:
        st.markdown(text(lang, "class.local"))
    st.caption(text(lang, "class.yours"))


def _link() -> str:
    """The address at which followers join; of this page's own, only where the server is."""
    here = urlsplit(st.context.url or "")
    server = f"{here.scheme}://{here.netloc}" if here.netloc else ""
    folder = here.path.rsplit("/learn", 1)[0] if "/learn" in here.path else ""
    return f"{server}{folder}/learn?room={state.current().room}"


def _switches(lang: Language, at: Place) -> None:
    """Reveal, and show how the class answered; for a card that asks."""
    card, name = at.card(), at.recipe.name
    if card.question is None:
        return
    is_open = progress.is_open(card, at.answers)
    st.button(
        text(lang, "class.reveal" if is_open else "class.hide"),
        key=state.widget_key("class.reveal"),
        type="primary" if is_open else "secondary",
        on_click=place.answer,
        args=(name, progress.SHOWN if is_open else ""),
    )
    shown = state.kept(SHOWN) == name
    st.button(
        text(lang, "class.hide_answers" if shown else "class.show_answers"),
        key=state.widget_key("class.show"),
        on_click=state.keep,
        args=(SHOWN, "" if shown else name),
    )


@st.fragment
def _tally(lang: Language) -> None:
    """Who is here and how they answered; runs by itself when that changes."""
    view = state.current()
    with messages.guard(lang):
        changes = rooms().changes(view.room)
        stage = rooms().stage(view.room)
        tally = rooms().tally(view.room, stage.name)
        said = text(lang, "class.here", present=tally.present, answered=tally.answered)
        st.markdown(f"**{said}**")
        at = place.on(stage.lesson, stage.card, stage.settings)
        texts = lesson_texts(stage.lesson, lang)
        spread.show(lang, at.card(), texts, tally, stage.revealed)
        spread.listener(lang, "changes", changes)


def _end() -> None:
    """End the class: its pages are told so, nothing of it is kept."""
    view = state.current()
    rooms().close(view.room, view.host)
    offer.leave()
