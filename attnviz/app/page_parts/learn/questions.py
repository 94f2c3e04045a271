"""A card's question, the widgets that take an answer, and the verdict.

In: the card, its texts, the answers so far. Out: widgets; feedback on the mistake that a wrong
answer shows; the verdict in words and with a sign, never by colour alone. A cell is answered on its
board (see `pictures`).
"""

import streamlit as st

from attnviz.app.page_parts.learn import open_card, pictures
from attnviz.app.page_parts.learn.card_shown import CardShown
from attnviz.app.session import store, widgets
from attnviz.i18n import Language, labelled, text
from attnviz.pictures.board import Board
from attnviz.teach.lessons.cards import progress
from attnviz.teach.lessons.cards.card import CellQuestion, ChoiceQuestion, NumberQuestion

UNREAD = "learn.unread"


def show(shown: CardShown, *, leads: bool = False) -> None:
    """Draw question, answer widget and verdict.

    A page that `leads` a class answers nothing: it shows the options, and the panel of the class
    reveals.
    """
    lang, name, is_open = shown.lang, shown.card.name, shown.is_open
    with st.container(border=True):
        st.markdown(labelled(text(lang, "learn.predict"), shown.say("question")))
        if leads and is_open:
            _options_to_read(shown)
            return
        match shown.card.question:
            case NumberQuestion() if not leads:
                _number(lang, name, shown.answer, is_open)
            case ChoiceQuestion() as question:
                _choice(shown, question)
            case CellQuestion() as question if is_open:
                st.caption(_where_to_click(shown, question))
        verdict(shown)
        if not leads:
            _show_or_ask_again(lang, name, is_open)


def _options_to_read(shown: CardShown) -> None:
    """The options of a choice, as a list or below their pictures; of other questions nothing."""
    question = shown.card.question
    if not isinstance(question, ChoiceQuestion):
        return
    titles = {option: shown.say(f"option.{option}") for option in question.options}
    if not question.pictures:
        st.markdown("\n".join(f"- {title}" for title in titles.values()))
        return
    for column, (option, title) in zip(st.columns(len(titles)), titles.items(), strict=True):
        with column:
            if option in question.pictures:
                pictures.show(shown, question.pictures[option], f"option.{option}", narrow=True)
            st.markdown(title)


def _where_to_click(shown: CardShown, question: CellQuestion) -> str:
    """The panel to click, by its name unless every panel on the card takes the answer."""
    boards = [picture for picture in shown.card.pictures if isinstance(picture, Board)]
    if all(panel.name in question.panels for board in boards for panel in board.panels):
        return text(shown.lang, "learn.click_above")
    return text(shown.lang, "learn.click_in", panel=shown.say(f"panel.{question.panel}"))


def _show_or_ask_again(lang: Language, name: str, is_open: bool) -> None:
    """A button that shows the answer, or asks the question again."""
    st.button(
        text(lang, "learn.show_answer" if is_open else "learn.ask_again"),
        key=widgets.key(f"learn.{name}.{'shown' if is_open else 'again'}"),
        on_click=open_card.answer,
        args=(name, progress.SHOWN if is_open else ""),
    )


def _widget(name: str, is_open: bool) -> str:
    """The name of what takes an answer; once that is known it is another one, which shows it.

    Disabled in the run that takes its answer, a widget goes back in the browser to what it showed.
    """
    return f"learn.{name}.{'answer' if is_open else 'known'}"


def _number(lang: Language, name: str, answer: str, is_open: bool) -> None:
    widget = _widget(name, is_open)
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


def _choice(shown: CardShown, question: ChoiceQuestion) -> None:
    """The options, with their pictures where they have some."""
    name, is_open = shown.card.name, shown.is_open
    marked = (shown.answer or None) if is_open else question.right
    if question.pictures:
        _options_with_pictures(shown, question, marked)
        return
    st.radio(
        text(shown.lang, "learn.options"),
        question.options,
        key=widgets.showing(_widget(name, is_open), marked),
        format_func=lambda option: _marked(shown, question, option),
        disabled=not is_open,
        on_change=_take_option,
        args=(name,),
        label_visibility="collapsed",
    )


def _marked(shown: CardShown, question: ChoiceQuestion, option: str) -> str:
    """The text of an option; once the question is answered, the right one has a sign."""
    sign = "✓ " if option == question.right and not shown.is_open else ""
    return f"{sign}{shown.say(f'option.{option}')}"


def _options_with_pictures(shown: CardShown, question: ChoiceQuestion, marked: str | None) -> None:
    """The options side by side, each a button below its picture; one is marked."""
    name, is_open = shown.card.name, shown.is_open
    for column, option in zip(st.columns(len(question.options)), question.options, strict=True):
        with column:
            title = shown.say(f"option.{option}")
            if option in question.pictures:
                pictures.show(shown, question.pictures[option], f"option.{option}", narrow=True)
            st.button(
                f"✓ {title}" if option == marked and not is_open else title,
                key=widgets.key(f"learn.{name}.{option}"),
                type="primary" if option == marked else "secondary",
                disabled=not is_open,
                on_click=open_card.answer,
                args=(name, option),
                width="stretch",
            )


def _take_option(name: str) -> None:
    chosen = widgets.value(_widget(name, is_open=True))
    if isinstance(chosen, str):
        open_card.answer(name, chosen)


def verdict(shown: CardShown) -> None:
    """The verdict on the answer in words, and the reveal once the answer is known."""
    lang, judged = shown.lang, shown.verdict
    unread: str = store.get(UNREAD) or ""
    if unread and shown.card.name not in shown.answers:
        st.warning(text(lang, "learn.no_number"))
    if judged is not None and not judged.right:
        feedback = shown.say(f"feedback.{judged.mistake}")
        st.warning(labelled(f"✗ {text(lang, 'learn.not_right')}", feedback))
    elif not shown.is_open:
        heading = text(lang, "learn.answer" if judged is None else "learn.right")
        sign = "" if judged is None else "✓ "
        st.success(f"**{sign}{heading}** {shown.say('reveal')}")
