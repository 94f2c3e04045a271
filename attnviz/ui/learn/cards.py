"""One card: what it says, what can be set, its pictures, its question, and where it leads.

In: a `Place`. Out: a drawn card. `card` draws it without the way through the lesson, so that a page
that follows someone else's can draw the same.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.lessons.cards import progress
from attnviz.lessons.cards.card import Control, Link, Pick, Slider, Value
from attnviz.lessons.cards.texts import LessonTexts, lesson_texts, say
from attnviz.ui.learn import pictures, place, questions, way
from attnviz.ui.learn.look import look_at
from attnviz.ui.learn.place import Place
from attnviz.ui.session import routes, state

if TYPE_CHECKING:
    from attnviz.course.recipe import Recipe


def show(lang: Language, at: Place) -> None:
    """Draw the lesson's title, the way through its cards, and the current card."""
    texts = lesson_texts(at.lesson.slug, lang)
    with st.container(key=state.widget_key("learn.top")):
        st.button(
            text(lang, "learn.all"),
            key=state.widget_key("learn.all"),
            on_click=place.leave,
            type="tertiary",
        )
        st.title(texts.title, anchor=False)
        standings = way.show(lang, at)
    card(lang, texts, at)
    _next(lang, at)
    way.legend(lang, standings)
    way.arrive(lang, at, standings)


def card(lang: Language, texts: LessonTexts, at: Place) -> None:
    """Draw one card."""
    with st.container(key=state.widget_key("learn.card")):
        _card(lang, texts, at)


def _card(lang: Language, texts: LessonTexts, at: Place) -> None:
    built = at.card()
    st.header(say(texts, built, "title"), anchor=False)
    st.markdown(say(texts, built, "text"))
    _controls(texts, at)
    is_open = progress.is_open(built, at.answers)
    for number, picture in enumerate(built.pictures):
        pictures.show(lang, texts, built, picture, f"{number}", at.answers)
    if built.question is not None:
        questions.show(lang, texts, built, at.answers, at.led)
    if is_open:
        return
    for number, picture in enumerate(built.reveal):
        pictures.show(lang, texts, built, picture, f"reveal.{number}", at.answers)
    if texts.has(built.name, "takeaway"):
        line = say(texts, built, "takeaway")
        st.markdown(f"> **{text(lang, 'learn.takeaway')}** {line}")
    if built.link is not None:
        _link(lang, built.link)


def _next(lang: Language, at: Place) -> None:
    """To the card before and the one after; behind the last one is the list of lessons."""
    names, number = at.names, at.number
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            text(lang, "learn.previous"),
            key=state.widget_key("learn.previous"),
            disabled=number == 0,
            on_click=place.go,
            args=(names[max(number - 1, 0)],),
        )
        st.caption(text(lang, "learn.where", number=number + 1, cards=len(names)))
        last = number == len(names) - 1
        st.button(
            text(lang, "learn.done" if last else "learn.next"),
            key=state.widget_key("learn.next"),
            type="primary",
            on_click=place.leave if last else place.go,
            args=(True,) if last else (names[number + 1],),
        )


def _controls(texts: LessonTexts, at: Place) -> None:
    """What can be set, side by side where the page is wide enough."""
    if at.recipe.controls:
        with st.container(horizontal=True):
            for control in at.recipe.controls:
                _control(texts, at.recipe, control, at.values, at.led)


def _control(
    texts: LessonTexts,
    recipe: "Recipe",
    control: Control,
    values: Mapping[str, Value],
    led: bool,
) -> None:
    name = f"learn.{recipe.name}.{control.name}"
    label = texts.of(recipe.name, f"control.{control.name}")
    key, args = state.show_in_widget(name, values[control.name]), (recipe.name, control.name, name)
    if isinstance(control, Slider):
        st.select_slider(
            label,
            control.stops,
            format_func=_short,
            key=key,
            on_change=_take_value,
            args=args,
            disabled=led,
        )
    elif isinstance(control, Pick):
        st.segmented_control(
            label,
            control.options,
            format_func=lambda of: texts.of(recipe.name, f"control.{control.name}.{of}"),
            key=key,
            on_change=_take_value,
            args=args,
            disabled=led,
        )
    else:
        st.text_input(
            label,
            max_chars=control.most_chars,
            key=key,
            on_change=_take_value,
            args=args,
            disabled=led,
        )


def _short(value: float) -> str:
    return f"{value:g}"


def _take_value(card_name: str, control: str, widget: str) -> None:
    value = state.widget_value(widget)
    if value is not None:
        place.set_value(card_name, control, value)


def _link(lang: Language, link: Link) -> None:
    """A button that opens a page of the app in the state that continues the card."""
    page = text(lang, f"page.{link.page}.title")
    if st.button(text(lang, "learn.try", page=page), key=state.widget_key("learn.try")):
        look_at(link.view)
        st.switch_page(routes.file(link.page), query_params=state.params(state.current()))
