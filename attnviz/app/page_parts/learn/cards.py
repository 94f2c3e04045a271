"""One card: its text, its controls, its pictures, its question, and the link from it.

In: an `OpenCard`. Out: a drawn card, with the pills of its lesson. Above it the map of the model:
the parts that the card is about lit, those that are switched off on it struck out; a click on a
part opens the card that teaches it.
"""

import streamlit as st

from attnviz.app.frame import take
from attnviz.app.host.draw import draw
from attnviz.app.page_parts.learn import (
    card_pills,
    knowledge,
    links,
    open_card,
    pictures,
    questions,
    words,
)
from attnviz.app.page_parts.learn.card_shown import CardShown
from attnviz.app.page_parts.learn.open_card import OpenCard
from attnviz.app.session import current, widgets
from attnviz.i18n import Language, labelled, numbers, text
from attnviz.pictures import model_map
from attnviz.pictures.model_map import ModelMapView
from attnviz.teach.lessons.cards import glossary
from attnviz.teach.lessons.cards.card import Card, Control, Link, Pick, Slider
from attnviz.teach.lessons.cards.symbols import with_formulas
from attnviz.teach.lessons.cards.texts import LessonTexts, lesson_texts
from attnviz.teach.lessons.cards.versions import before_the_question, in_language

WITHOUT = "without"  # the control of the card on which parts are switched off


def show(lang: Language, opened: OpenCard) -> None:
    """Draw the lesson's title, the pills of its cards, and the open card."""
    texts = lesson_texts(opened.lesson.slug, lang)
    if opened.seed and not opened.room:
        _came_back(lang, texts, opened)
        return
    with st.container(key=widgets.key("learn.top")):
        st.button(
            text(lang, "learn.all"),
            key=widgets.key("learn.all"),
            on_click=open_card.leave,
            type="tertiary",
        )
        st.title(with_formulas(texts.title), anchor=False)
        standings = card_pills.show(lang, opened)
        if not opened.room:
            open_card.note_known(opened.lesson.slug, standings)
        _model_map(lang, opened)
    knowledge.before_lesson(lang, opened)
    with st.container(key=widgets.key("learn.card")):
        is_open = _card(lang, texts, opened)
    n_right = sum(standing == "right" for standing in standings.values())
    _next(lang, opened, n_right, is_open)
    card_pills.legend(lang, standings)
    take.offer_picture(lang)
    card_pills.scroll_to_top(lang, opened, standings)


def _came_back(lang: Language, texts: LessonTexts, opened: OpenCard) -> None:
    """A card of an earlier lesson with new numbers, without the rest of that lesson."""
    with st.container(key=widgets.key("learn.top")):
        st.title(text(lang, "learn.new_numbers"), anchor=False)
        knowledge.show_came_back(lang, opened)
    with st.container(key=widgets.key("learn.card")):
        _card(lang, texts, opened)
    knowledge.go_on(lang, opened)
    card_pills.scroll_to_top(lang, opened, {})


def _card(lang: Language, texts: LessonTexts, opened: OpenCard) -> bool:
    """Draw the card; True while its question waits for an answer."""
    open_card.note_drawn(opened.name)
    built = in_language(opened.card(), texts)
    shown = CardShown(lang, texts, built, opened.answers)
    st.header(shown.say("title"), anchor=False)
    if opened.name in texts.in_english:
        st.caption(text(lang, "learn.in_english"))
    st.markdown(shown.say("text"))
    words.row(lang, opened, not shown.is_open)
    if not predicts(built):
        _controls(texts, opened)
    for number, picture in enumerate(before_the_question(built) if shown.is_open else ()):
        pictures.show(shown, picture, f"before.{number}")
    for number, picture in enumerate(built.pictures):
        pictures.show(shown, picture, f"{number}")
    if built.question is not None:
        questions.show(shown, leads=bool(opened.room))
    if shown.is_open:
        return True
    if predicts(built):
        _controls(texts, opened)
    for number, picture in enumerate(built.reveal):
        pictures.show(shown, picture, f"reveal.{number}")
    with st.container(border=True, key=widgets.key("learn.takeaway")):
        st.markdown(labelled(text(lang, "learn.takeaway"), shown.say("takeaway")))
    if built.link is not None:
        _link(shown, built.link)
    return False


def predicts(card: Card) -> bool:
    """True if the card's pictures wait for a prediction; then its controls do so, too."""
    return card.question is not None and not card.pictures


def _next(lang: Language, opened: OpenCard, n_right: int, is_open: bool) -> None:
    """Buttons to the cards before and after; after the last one comes the result.

    Each card has its own: a click tells on which card it was made. To go on is the main thing to do
    once the question is answered.
    """
    way, number = opened.whole_way, opened.number
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            text(lang, "learn.previous"),
            key=widgets.key(f"learn.previous.{opened.name}"),
            disabled=number == 0,
            on_click=open_card.turn,
            args=(opened.name, *way[max(number - 1, 0)]),
        )
        st.caption(text(lang, "learn.where", number=number + 1, cards=len(way)))
        last = number == len(way) - 1
        st.button(
            text(lang, "learn.done" if last else "learn.next"),
            key=widgets.key(f"learn.next.{opened.name}"),
            type="secondary" if is_open else "primary",
            on_click=open_card.finish if last else open_card.turn,
            args=(opened.lesson.slug, n_right) if last else (opened.name, *way[number + 1]),
        )


def _controls(texts: LessonTexts, opened: OpenCard) -> None:
    """The card's controls, side by side where the page is wide enough."""
    if opened.recipe.controls:
        with st.container(horizontal=True):
            for control in opened.recipe.controls:
                _control(texts, opened, control)


def _control(texts: LessonTexts, opened: OpenCard, control: Control) -> None:
    name = f"learn.{opened.name}.{control.name}"
    label = with_formulas(texts.of(opened.name, f"control.{control.name}"))
    key = widgets.showing(name, opened.values[control.name])
    args = (opened.name, control.name, name)
    if isinstance(control, Slider):
        st.select_slider(
            label,
            control.stops,
            format_func=lambda stop: numbers.number(texts.lang, stop, "g"),
            key=key,
            on_change=_take_value,
            args=args,
        )
    elif isinstance(control, Pick):
        st.segmented_control(
            label,
            control.options,
            format_func=lambda option: with_formulas(
                texts.of(opened.name, f"control.{control.name}.{option}")
            ),
            key=key,
            on_change=_take_value,
            args=args,
        )
    else:
        st.text_input(
            label,
            max_chars=control.max_chars,
            key=key,
            on_change=_take_value,
            args=args,
        )


def _take_value(card_name: str, control: str, widget: str) -> None:
    value = widgets.value(widget)
    if value is not None:
        open_card.set_value(card_name, control, value)


def _link(shown: CardShown, link: Link) -> None:
    """A button that opens the page on which the card goes on, and what to do there."""
    lang = shown.lang
    if link.task:
        st.markdown(labelled(text(lang, "learn.task"), shown.say("task")))
    page = text(lang, f"page.{link.page}.title")
    if st.button(text(lang, "learn.try", page=page), key=widgets.key("learn.try")):
        links.follow(link.view)
        current.go(link.page)


def _model_map(lang: Language, opened: OpenCard) -> None:
    """Draw the map."""
    titles: dict[str, str] = {
        part: lesson_texts(slug, lang).of(card, "title")
        for part, (slug, card) in glossary.CARDS_OF_PARTS.items()
    }
    lit = glossary.parts_of(opened.lesson.slug, opened.name)
    off = model_map.parse(opened.values.get(WITHOUT))
    layers, missing = glossary.model_of(opened.lesson.slug, opened.name)
    view = ModelMapView(lit, () if off is None else (off,), layers, titles, missing)
    draw(model_map.CANVAS, view, "learn.model_map", lang, {"part": _open_part})


def _open_part(sent: object) -> None:
    part = model_map.parse(sent)
    if part is not None:
        open_card.open_at(*glossary.CARDS_OF_PARTS[part])
