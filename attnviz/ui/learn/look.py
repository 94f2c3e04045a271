"""From a card to the rest of the app and back: a view that a card asks for, a link to the card.

In: fields of the app's address, as `Link` and `Real` name them. Out: the view changed to them with
nothing left of what was chosen for another input; on other pages, the way back to the lesson.
"""

from collections.abc import Mapping

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.lessons.cards.texts import lesson_texts
from attnviz.ui.server import cache
from attnviz.ui.session import routes, state

FRESH = {
    **state.UNCHOSEN,
    **{"generate": 0, "cut": False, "file": False, "image": "", "masks": "", "edits": ""},
}


def look_at(asked: Mapping[str, str | int | float]) -> None:
    """Change the view to what a card asks for; a model without a text opens with its first one."""
    found, rejected = state.parse({name: str(value) for name, value in asked.items()})
    assert not rejected, rejected
    assert found.keys() == asked.keys(), asked
    fresh = {}
    if "model" in found:
        fresh = {**FRESH, "text": state.default_view(found["model"]).text}
    state.update(**{**fresh, **found})


def way_back(lang: Language) -> None:
    """A link to the card at which a lesson was left; nothing where none is open."""
    view = state.current()
    if view.lesson and view.lesson in cache.lesson_slugs():
        st.page_link(
            routes.file("learn"),
            label=text(lang, "learn.back_to", lesson=lesson_texts(view.lesson, lang).title),
            query_params=state.params(view),
        )
