"""The way through a lesson: its cards by number, each with how it was answered.

In: a `Place`. Out: pills that lead to the cards, with a sign for right, wrong and shown, what the
signs mean in words, and an usher that brings the reader to the top of a card that opens.
"""

import streamlit as st

from attnviz.components import usher
from attnviz.components.usher import UsherView
from attnviz.errors import AttnVizError
from attnviz.i18n import Language, text
from attnviz.lessons.cards import progress
from attnviz.lessons.cards.progress import Standing
from attnviz.ui.host.components import show_usher
from attnviz.ui.learn import place
from attnviz.ui.learn.place import Place
from attnviz.ui.session import state

SIGNS: dict[Standing, str] = {"right": "✓", "wrong": "✗", "shown": "•"}


def show(lang: Language, at: Place) -> dict[str, Standing]:
    """Draw the way; how each card was answered that was."""
    found = standings(at)
    st.pills(
        text(lang, "learn.cards"),
        at.names,
        key=state.show_in_widget("learn.way", at.recipe.name),
        format_func=lambda name: _number(at, name, found),
        on_change=_take,
        args=(at.recipe.name,),
        label_visibility="collapsed",
        width="stretch",
    )
    return found


def legend(lang: Language, found: dict[str, Standing]) -> None:
    """Say what the signs mean that are on the way, where there are any."""
    shown = [f"{SIGNS[of]} {text(lang, f'learn.is_{of}')}" for of in SIGNS if of in found.values()]
    if shown:
        st.caption(text(lang, "learn.marks", signs=", ".join(shown)))


def standings(at: Place) -> dict[str, Standing]:
    """How each card was answered that was; one that cannot be built counts as answered."""
    found: dict[str, Standing] = {}
    for name in at.names:
        if name in at.answers:
            try:
                found[name] = progress.standing(at.built(name), at.answers)
            except AttnVizError:
                found[name] = "shown"
    return found


def arrive(lang: Language, at: Place, found: dict[str, Standing] | None = None) -> None:
    """Have the browser show a card that has just opened from its top."""
    labels = () if found is None else tuple(_label(lang, at, name, found) for name in at.names)
    view = UsherView(place.arrivals(at), labels)
    show_usher(usher.pack_usher(view), state.component_key("learn.usher"))


def _number(at: Place, name: str, found: dict[str, Standing]) -> str:
    number = str(at.names.index(name) + 1)
    return f"{number} {SIGNS[found[name]]}" if name in found else number


def _label(lang: Language, at: Place, name: str, found: dict[str, Standing]) -> str:
    said = text(lang, "learn.where", number=at.names.index(name) + 1, cards=len(at.names))
    return f"{said} · {text(lang, f'learn.is_{found[name]}')}" if name in found else said


def _take(here: str) -> None:
    place.go(state.widget_value("learn.way") or here)
