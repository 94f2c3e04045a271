"""Links between a lesson's cards and the rest of the app.

In: fields of the app's address, as `Link` and `RealHead` name them. Out: the view changed to them
with nothing left of what was chosen for another input; on other pages, the link back to the lesson.
"""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from attnviz.app.server import course_lessons
from attnviz.app.session import address, current, routes
from attnviz.app.session.view import Input, View, default_view
from attnviz.i18n import Language, text
from attnviz.teach.lessons.cards.symbols import with_formulas
from attnviz.teach.lessons.cards.texts import lesson_texts


def follow(parameters: Mapping[str, str | int | float]) -> None:
    """Change the view to what a card links to; a model without a text opens with its first one."""
    values, rejected = address.parse({name: str(value) for name, value in parameters.items()})
    assert not rejected, rejected
    assert values.keys() == parameters.keys(), parameters
    if "model" in values:
        blank = _of_another_input(current.view(), default_view(values["model"]).input.text)
        current.update(address.changed(blank, values), keeps=("masks", "edits", "word"))
    else:
        current.take(values)


def _of_another_input(view: View, text: str) -> View:
    """The view with nothing left of what was chosen for its input."""
    blank = view.of_another_model
    return replace(
        blank,
        input=Input(text, text2=blank.input.text2, sound=blank.input.sound),
        generating=replace(blank.generating, n_tokens=0),
        drawing=replace(blank.drawing, masks="", edits=""),
    )


def back_to_lesson(lang: Language) -> None:
    """A link to the card at which a lesson was left, with its task; nothing without a lesson."""
    view = current.view()
    if view.learn.lesson and view.learn.lesson in course_lessons.slugs():
        texts = lesson_texts(view.learn.lesson, lang)
        card = view.learn.card if view.learn.card in texts.cards else next(iter(texts.cards))
        number = 1 + list(texts.cards).index(card)
        label = text(lang, "learn.back_to", number=number, title=texts.of(card, "title"))
        st.page_link(
            routes.file("learn"),
            label=with_formulas(label),
            query_params=address.params(view),
            help=texts.of(card, "task") if texts.has(card, "task") else None,
        )
