"""A card's question, the widgets that take an answer, and the verdict.

In: the card, its texts, the answers so far. Out: widgets; feedback on the mistake that a wrong
answer shows; the verdict in words and with a sign, never by colour alone. A cell is answered on its
board (see `pictures`).
"""

from collections.abc import Mapping

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.lessons.cards import progress
from attnviz.lessons.cards.card import Board, Card, CellQuestion, ChoiceQuestion, NumberQuestion
from attnviz.lessons.cards.texts import LessonTexts, say
from attnviz.ui.learn import open_card, pictures
from attnviz.ui.session import store, widgets

UNREAD = "learn.unread"


def show(
    lang: Language, texts: LessonTexts, built: Card, answers: Mapping[str, str], led: bool = False
) -> None:
    """Draw question, answer widget and verdict; if `led`, a presenter reveals for all."""
    name = built.name
    with st.container(border=True):
        st.markdown(f"**{text(lang, 'learn.predict')}** {say(texts, built, 'question')}")
        answer, is_open = progress.answer_text(name, answers), progress.is_open(built, answers)
        match built.question:
            case NumberQuestion():
                _number(lang, name, answer, is_open)
            case ChoiceQuestion():
                _choice(lang, texts, built, built.question, answers, is_open)
            case CellQuestion() if is_open:
                st.caption(_where_to_click(lang, texts, built, built.question))
        if progress.is_ungraded(name, answers):
            st.caption(text(lang, "learn.held" if answer else "learn.asked"))
            return
        verdict(lang, texts, built, answers)
        if not led:
            _show_or_ask_again(lang, name, is_open)


def _where_to_click(lang: Language, texts: LessonTexts, built: Card, question: CellQuestion) -> str:
    """The panel to click, by its name unless every panel on the card takes the answer."""
    boards = [picture for picture in built.pictures if isinstance(picture, Board)]
    if all(panel.name in question.panels for board in boards for panel in board.panels):
        return text(lang, "learn.click_above")
    return text(lang, "learn.click_in", panel=say(texts, built, f"panel.{question.panel}"))


def _show_or_ask_again(lang: Language, name: str, is_open: bool) -> None:
    """A button that shows the answer, or asks the question again."""
    st.button(
        text(lang, "learn.show_answer" if is_open else "learn.ask_again"),
        key=widgets.key(f"learn.{name}.{'shown' if is_open else 'again'}"),
        on_click=open_card.answer,
        args=(name, progress.SHOWN if is_open else ""),
    )


def _number(lang: Language, name: str, answer: str, is_open: bool) -> None:
    widget = f"learn.{name}.answer"
    st.text_input(
        text(lang, "learn.your_number"),
        key=widgets.showing(widget, answer),
        max_chars=24,
        disabled=not is_open,
        placeholder=text(lang, "learn.number_placeholder"),
        on_change=_take_number,
        args=(name, widget),
        width=260,
    )


def _take_number(name: str, widget: str) -> None:
    typed = str(widgets.value(widget) or "")
    number = progress.number(typed)
    store.put(UNREAD, "" if number is not None or not typed.strip() else typed)
    open_card.answer(name, "" if number is None else progress.text_of(number))


def _choice(
    lang: Language,
    texts: LessonTexts,
    built: Card,
    question: ChoiceQuestion,
    answers: Mapping[str, str],
    is_open: bool,
) -> None:
    """The options, with their pictures where they have some."""
    answer = progress.answer_text(built.name, answers) or None
    shown = answer if is_open else question.right
    if not question.pictures:
        st.radio(
            text(lang, "learn.options"),
            question.options,
            key=widgets.showing(f"learn.{built.name}.answer", shown),
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
                key=widgets.key(f"learn.{built.name}.{option}"),
                type="primary" if option == shown else "secondary",
                disabled=not is_open,
                on_click=open_card.answer,
                args=(built.name, option),
                width="stretch",
            )


def _take_option(name: str) -> None:
    chosen = widgets.value(f"learn.{name}.answer")
    if isinstance(chosen, str):
        open_card.answer(name, chosen)


def verdict(lang: Language, texts: LessonTexts, built: Card, answers: Mapping[str, str]) -> None:
    """The verdict on the answer in words, and the reveal once the answer is known."""
    unread: str = store.get(UNREAD) or ""
    if unread and built.name not in answers:
        st.warning(text(lang, "learn.no_number"))
    judged = progress.verdict(built, answers)
    if judged is not None and not judged.right:
        feedback = say(texts, built, f"feedback.{judged.mistake}")
        st.warning(f"**✗ {text(lang, 'learn.not_right')}** {feedback}")
    elif not progress.is_open(built, answers):
        heading = text(lang, "learn.answer" if judged is None else "learn.right")
        sign = "" if judged is None else "✓ "
        st.success(f"**{sign}{heading}** {say(texts, built, 'reveal')}")
