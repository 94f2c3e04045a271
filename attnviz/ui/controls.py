"""The sidebar that all pages share: where to go, which text, which model, which language.

In: the pages and the language. Out: widgets that show the current `View` and change it. A widget
never holds a value of its own: it is told what to show before it appears, and its callback puts
what the visitor did into the view.
"""

from collections.abc import Sequence

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from attnviz.i18n import LANGUAGES, Language, text
from attnviz.models.registry import models
from attnviz.ui import state
from attnviz.ui.frame import EXAMPLES, plain

NAVIGATION = "navigation"
TEXT_HEIGHT_PX = 110


def sidebar(lang: Language, pages: Sequence[StreamlitPage]) -> None:
    """Draw the sidebar."""
    with st.sidebar:
        st.markdown(f"**{text(lang, 'app.name')}**")
        st.caption(text(lang, "app.tagline"))
        navigation(tuple(pages))
        _text(lang)
        _model(lang)
        _language(lang)


@st.fragment(key=NAVIGATION)
def navigation(pages: tuple[StreamlitPage, ...]) -> None:
    """Links to the pages that carry the whole view, so that a page opens with its address.

    A fragment of its own: when a component commits a selection, only these links are made anew.
    """
    parameters = state.params(state.current())
    for page in pages:
        st.page_link(page, query_params=parameters, width="stretch")


def _text(lang: Language) -> None:
    view = state.current()
    st.text_area(
        text(lang, "sidebar.text"),
        key=state.show_in_widget("text", view.text),
        height=TEXT_HEIGHT_PX,
        max_chars=state.MAX_CHARS["text"],
        placeholder=text(lang, "sidebar.text_placeholder"),
        help=text(lang, "sidebar.text_help"),
        on_change=_take_text,
    )
    sentences = {text(lang, f"example.{name}"): name for name in EXAMPLES}
    chosen = sentences.get(view.text)
    st.selectbox(
        text(lang, "sidebar.example"),
        EXAMPLES,
        key=state.show_in_widget("example", chosen),
        index=None,
        format_func=lambda name: text(lang, f"example.{name}"),
        placeholder=text(lang, "sidebar.example_placeholder"),
        on_change=_take_example,
        args=(lang,),
    )
    if chosen is not None:
        st.caption(text(lang, f"example_hint.{chosen}"))


def _take_text() -> None:
    state.update(text=state.clean("text", state.widget_value("text")), cut=False)


def _take_example(lang: Language) -> None:
    name = state.widget_value("example")
    if name in EXAMPLES:
        state.update(text=text(lang, f"example.{name}"), cut=False)


def second_text(lang: Language) -> None:
    """The box for the second sentence of a batch."""
    st.text_input(
        text(lang, "sidebar.text2"),
        key=state.show_in_widget("text2", state.current().text2),
        max_chars=state.MAX_CHARS["text2"],
        placeholder=text(lang, "sidebar.text2_placeholder"),
        help=text(lang, "sidebar.text2_help"),
        on_change=_take_second_text,
    )


def _take_second_text() -> None:
    state.update(text2=state.clean("text2", state.widget_value("text2")), cut=False)


def _model(lang: Language) -> None:
    cards = {card.name: card for card in models()}
    chosen = state.current().model
    st.selectbox(
        text(lang, "sidebar.model"),
        list(cards),
        key=state.show_in_widget("model", chosen if chosen in cards else None),
        index=0 if chosen in cards else None,
        format_func=lambda name: text(lang, f"model.{name}.label"),
        placeholder=plain(chosen),
        on_change=_take_model,
    )
    if chosen in cards:
        card = cards[chosen]
        st.caption(
            text(
                lang,
                "sidebar.model_card",
                layers=card.layers,
                heads=card.heads,
                parameters=f"{card.parameters:,}",
                licence=card.licence,
            ),
            help=text(lang, f"model.{chosen}.description"),
        )


def _take_model() -> None:
    name = state.widget_value("model")
    if isinstance(name, str):
        state.update(model=name)


def _language(lang: Language) -> None:
    st.selectbox(
        text(lang, "language.label"),
        LANGUAGES,
        key=state.show_in_widget("lang", lang),
        format_func=lambda code: text(code, "language.name"),
        on_change=lambda: state.update(lang=state.widget_value("lang")),
    )
