"""The film of the start page, computed when it is shown: the opening of MiniLM, and its contrast.

In: a language. Out: the mounted film; a sentence that the visitor typed or chose is opened on
Overview, with the film's head chosen; an example, with the head, query and key worth seeing in it.
"""

from dataclasses import replace

import streamlit as st

from attnviz.app.host.draw import draw
from attnviz.app.server import captures, sources
from attnviz.app.session import (
    address,
    address_bar,
    current,
    examples,
    messages,
    openings,
    routes,
    widgets,
)
from attnviz.app.session.fragment import fragment
from attnviz.app.session.view import DEFAULT_MODEL
from attnviz.capture.request import Request
from attnviz.i18n import Language
from attnviz.pictures import film as component
from attnviz.pictures.film import FilmView
from attnviz.pictures.film import fill as views
from attnviz.pictures.group.app_capture import AppCapture


@fragment()
def show(lang: Language) -> None:
    """The film, and below it the box for another sentence."""
    with messages.guard(lang):
        texts = offered()
        key = widgets.component_key("film")
        draw(
            component.CANVAS,
            lambda: replace(view(), texts=tuple(texts)),
            key,
            lang,
            {"text": lambda: _take_text(key)},
            kept=str(texts),
        )


def view() -> FilmView:
    """The film of the opening: its numbers are those of two captures."""
    opening = openings.OPENINGS[DEFAULT_MODEL]
    first = examples.texts(DEFAULT_MODEL)[0]
    second = examples.contrast(DEFAULT_MODEL, first)
    groups = [_captured(sentence).groups[0] for sentence in (first, second)]
    return views.film(groups[0], groups[1], opening.head, opening.query, opening.key)


def offered() -> tuple[str, ...]:
    """Examples in the model's language, other than the sentence of the film."""
    texts = examples.texts(DEFAULT_MODEL)[1:]
    return tuple(text for text in texts if not examples.foreign_letters(DEFAULT_MODEL, text))


def _captured(sentence: str) -> AppCapture:
    return captures.recall(sources.source(DEFAULT_MODEL), Request.of((sentence,)))


def _take_text(key: str) -> None:
    """Open a visitor's sentence on Overview, at the head of the film or of the example."""
    sentence = address.cleaned("text", widgets.component_value(key, "text")).strip()
    if not sentence:
        return
    current.open_model(DEFAULT_MODEL)
    current.open_text(sentence)
    seen, view = openings.sight(DEFAULT_MODEL, sentence), current.view()
    head = openings.OPENINGS[DEFAULT_MODEL].head if seen is None else seen.head
    place = replace(view.place, layer=head.layer, head=head.head)
    if seen is not None:
        place = replace(place, query=seen.query, key=seen.key)
    current.update(replace(view, place=place))
    address_bar.mount_anew()
    st.switch_page(routes.file("overview"), query_params=address.params(current.view()))
