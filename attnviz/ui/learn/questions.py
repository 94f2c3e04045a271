"""A card's question: predict first, then see. A wrong answer gets feedback on the mistake it shows.

In: the card, its texts, the answers so far. Out: widgets that take an answer; the verdict in words
and with a sign, never by colour alone. Cells are answered on their board (see `pictures`).
"""

from collections.abc import Mapping

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.lessons.cards import progress
from attnviz.lessons.cards.card import Board, Card, CellQuestion, ChoiceQuestion, NumberQuestion
from attnviz.lessons.cards.texts import LessonTexts, say
from attnviz.ui.learn import pictures, place
from attnviz.ui.session import state

PER_ROW = 3


def show(
    lang: Language, texts: LessonTexts, built: Card, answers: Mapping[str, str], led: bool = False
) -> None:
    """Draw question, answer widget, verdict; `led` by a presenter, who reveals for all."""
    name = built.name
    with st.container(border=True):
        st.markdown(f"**{text(lang, 'learn.predict')}** {say(texts, built, 'question')}")
        given, is_open = progress.answer_text(name, answers), progress.is_open(built, answers)
        match built.question:
            case NumberQuestion():
                _number(lang, name, given, is_open)
            case ChoiceQuestion():
                _choice(lang, texts, built, built.question, answers, is_open)
            case CellQuestion() if is_open:
                st.caption(_where(lang, texts, built, built.question))
        if progress.is_ungraded(name, answers):
            st.caption(text(lang, "learn.held" if given else "learn.asked"))
            return
        verdict(lang, texts, built, answers)
        if not led:
            _other_way(lang, name, is_open)


def _where(lang: Language, texts: LessonTexts, built: Card, question: CellQuestion) -> str:
    """Where to click; the panel by its name, unless every panel on the card takes the answer."""
    boards = [picture for picture in built.pictures if isinstance(picture, Board)]
    if all(panel.name in question.panels for board in boards for panel in board.panels):
        return text(lang, "learn.click_above")
    return text(lang, "learn.click_in", panel=say(texts, built, f"panel.{question.panel}"))


def _other_way(lang: Language, name: str, is_open: bool) -> None:
    """A button that shows the answer, or has the question asked again."""
    st.button(
        text(lang, "learn.show_answer" if is_open else "learn.ask_again"),
        key=state.widget_key(f"learn.{name}.{'shown' if is_open else 'again'}"),
        on_click=place.answer,
        args=(name, progress.SHOWN if is_open else ""),
    )


def _number(lang: Language, name: str, given: str, is_open: bool) -> None:
    widget = f"learn.{name}.answer"
    st.text_input(
        text(lang, "learn.your_number"),
        key=state.show_in_widget(widget, given),
        max_chars=24,
        disabled=not is_open,
        placeholder=text(lang, "learn.number_placeholder"),
        on_change=_take_number,
        args=(name, widget),
        width=260,
    )


def _take_number(name: str, widget: str) -> None:
    typed = str(state.widget_value(widget) or "")
    found = progress.number(typed)
    state.keep("learn.unread", "" if found is not None or not typed.strip() else typed)
    place.answer(name, "" if found is None else progress.text_of(found))


def _choice(
    lang: Language,
    texts: LessonTexts,
    built: Card,
    question: ChoiceQuestion,
    answers: Mapping[str, str],
    is_open: bool,
) -> None:
    """The options, with their pictures where they have some."""
    given = progress.answer_text(built.name, answers) or None
    shown = question.right if not is_open else given
    if not question.pictures:
        st.radio(
            text(lang, "learn.options"),
            question.options,
            key=state.show_in_widget(f"learn.{built.name}.answer", shown),
            format_func=lambda option: say(texts, built, f"option.{option}"),
            disabled=not is_open,
            on_change=_take_option,
            args=(built.name,),
            label_visibility="collapsed",
        )
        return
    for column, option in zip(st.columns(len(question.options)), question.options, strict=True):
        with column:
            title = say(texts, built, f"option.{option}")
            if option in question.pictures:
                picture = question.pictures[option]
                pictures.show(lang, texts, built, picture, f"option.{option}", answers, narrow=True)
            st.button(
                f"✓ {title}" if option == shown and not is_open else title,
                key=state.widget_key(f"learn.{built.name}.{option}"),
                type="primary" if option == shown else "secondary",
                disabled=not is_open,
                on_click=place.answer,
                args=(built.name, option),
                width="stretch",
            )


def _take_option(name: str) -> None:
    chosen = state.widget_value(f"learn.{name}.answer")
    if isinstance(chosen, str):
        place.answer(name, chosen)


def verdict(lang: Language, texts: LessonTexts, built: Card, answers: Mapping[str, str]) -> None:
    """What the answer was worth, in words; the reveal once it is known."""
    unread: str = state.kept("learn.unread") or ""
    if unread and built.name not in answers:
        st.warning(text(lang, "learn.no_number"))
    found = progress.verdict(built, answers)
    if found is not None and not found.right:
        feedback = say(texts, built, f"feedback.{found.mistake}")
        st.warning(f"**✗ {text(lang, 'learn.not_right')}** {feedback}")
    elif not progress.is_open(built, answers):
        said = "learn.right" if found is not None else "learn.answer"
        sign = "✓ " if found is not None else ""
        st.success(f"**{sign}{text(lang, said)}** {say(texts, built, 'reveal')}")
