"""The sidebar that all pages share: where to go, which text, which model, which language.

In: the pages and the language. Out: widgets that show the current `View` and change it. A widget
never holds a value of its own: it is told what to show before it appears, and its callback puts
what the visitor did into the view.
"""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from attnviz.components import numbers
from attnviz.i18n import LANGUAGES, Language, text
from attnviz.models.registry import REGISTRY
from attnviz.ui.server.request import generates
from attnviz.ui.server.run_request import TOKENS_FROM_SOUND
from attnviz.ui.session import examples, state
from attnviz.ui.session.labels import PICTURED, TEXTLESS, text_label
from attnviz.ui.session.messages import plain
from attnviz.ui.sidebar import chat, picture, sampling, sound, text_file
from attnviz.ui.sidebar.navigation import navigation
from attnviz.views.titles import model_title

TEXT_HEIGHT_PX = 110
TARGET_HEIGHT_PX = 82
OTHER = ""  # in the list of models: one that is named in a box of its own


def sidebar(lang: Language, pages: Sequence[StreamlitPage], with_model: bool) -> None:
    """Draw the sidebar; input and model only where a page looks at one."""
    with st.sidebar:
        st.markdown(f"**{text(lang, 'app.name')}**")
        st.caption(text(lang, "app.tagline"))
        navigation(tuple(pages))
        if with_model:
            _input(lang)
            _model(lang)
            _writing(lang)
        _language(lang)


def _input(lang: Language) -> None:
    card = state.card(state.current().model)
    if card is not None and card.kind in PICTURED:
        if card.kind == "text-image":
            _text(lang)
            chat.switch(lang)
        picture.picture(lang)
    elif card is not None and card.kind == "speech":
        sound.choice(lang)
        if card.transcribes:
            written = state.current().target
            label = text(lang, "sidebar.transcript")
            target_box(lang, label, "target", written, _take_target, hears=True)
    elif card is not None and card.kind == "module":
        st.markdown(text(lang, f"model.{card.name}.input"))
    else:
        _text(lang)
        chat.switch(lang)
    if card is not None and card.kind == "encoder-decoder":
        _target(lang)


def _text(lang: Language) -> None:
    if text_file.shown(lang):
        return
    view = state.current()
    st.text_area(
        text_label(lang),
        key=state.show_in_widget("text", view.text),
        height=TEXT_HEIGHT_PX,
        placeholder=text(lang, "sidebar.text_placeholder"),
        help=text(lang, "sidebar.text_help"),
        on_change=_take_text,
    )
    text_file.pasting_problem(lang)
    known = {example.name: example.text for example in examples.of(view.model)}
    st.menu_button(
        text(lang, "sidebar.example"),
        list(known),
        key=state.widget_key("example"),
        format_func=lambda name: plain(known[name]),
        on_click=_take_example,
        args=(known,),
        width="stretch",
    )
    hint = examples.hint(lang, view.model, view.text)
    if hint is not None:
        st.caption(hint)
    text_file.upload(lang)


def _take_text() -> None:
    typed = state.widget_value("text")
    if len(typed) > state.MAX_CHARS["text"]:  # a browser would drop what goes over `max_chars`
        text_file.take_pasted(typed)
    else:
        state.no_problem()
        state.open_text(state.clean("text", typed))


def _take_example(known: Mapping[str, str]) -> None:
    name = state.widget_value("example")
    if name in known:
        state.open_text(known[name])


def second_text(lang: Language) -> None:
    """The box for the second sentence of a batch, where the model reads sentences."""
    card = state.card(state.current().model)
    if card is not None and card.kind in (*TEXTLESS, *PICTURED):
        return
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
    opened = state.current().model
    # the browser answers with a label: in another language it must be another widget
    name = f"model.{lang}"
    st.selectbox(
        text(lang, "sidebar.model"),
        [*REGISTRY, OTHER],
        key=state.show_in_widget(name, opened if opened in REGISTRY else OTHER),
        format_func=lambda name: (
            text(lang, "sidebar.other_model") if name == OTHER else model_title(lang, name)
        ),
        on_change=_take_model,
        args=(name,),
    )
    if opened not in REGISTRY:
        asked = text(lang, "sidebar.model_name")
        name_box(lang, asked, "model_name", opened, _take_model_name)
    _card(lang, opened)


def name_box(lang: Language, label: str, widget: str, shown: str, take: Callable[[], None]) -> None:
    """A box for a model that is not in the list: a hub id, or a folder."""
    st.text_input(
        label,
        key=state.show_in_widget(widget, shown),
        max_chars=state.MAX_NAME_CHARS,
        placeholder=text(lang, "sidebar.model_name_placeholder"),
        help=text(lang, "sidebar.model_name_help"),
        on_change=take,
    )


def _card(lang: Language, name: str) -> None:
    """What a model is, once that is known."""
    card = state.card(name)
    if card is None:
        return
    numbers = {
        "layers": card.layers,
        "heads": card.heads,
        "parameters": f"{card.parameters:,}",
    }
    if name in REGISTRY:
        of = "module" if card.kind == "module" else "model"
        said = text(lang, f"sidebar.{of}_card", licence=card.licence, **numbers)
        st.caption(said, help=text(lang, f"model.{name}.description"))
    else:
        kind = text(lang, f"model_kind.{card.kind}")
        if not card.heads:  # not one number for all layers
            del numbers["heads"]
        known = "other_card" if card.heads else "uneven_card"
        st.caption(text(lang, f"sidebar.{known}", kind=kind, **numbers))


def _take_model(widget: str) -> None:
    name = state.widget_value(widget)
    if name in REGISTRY or name == OTHER:
        state.open_model(name)


def _take_model_name() -> None:
    state.open_model(state.clean("model", state.widget_value("model_name")))


def target_box(
    lang: Language,
    label: str,
    widget: str,
    shown: str,
    take: Callable[[], None],
    hears: bool = False,
) -> None:
    """A box for what a decoder is to have written; where it is empty the model writes it."""
    st.text_area(
        label,
        key=state.show_in_widget(widget, shown),
        height=TARGET_HEIGHT_PX,
        max_chars=state.MAX_CHARS["target"],
        placeholder=text(lang, "sidebar.target_placeholder"),
        help=text(lang, "sidebar.transcript_help" if hears else "sidebar.target_help"),
        on_change=take,
    )


def _target(lang: Language) -> None:
    """What an encoder-decoder is to have written, and a button that asks the model itself."""
    view = state.current()
    target_box(lang, text(lang, "sidebar.target"), "target", view.target, _take_target)
    known = view.model in REGISTRY
    st.button(
        text(lang, "action.translate" if known else "action.let_write"),
        key=state.widget_key("translate"),
        help=text(lang, "sidebar.translate_help"),
        on_click=state.ask_for_target,
        disabled=not view.text.strip(),
        width="stretch",
    )


def _writing(lang: Language) -> None:
    """How much a model that writes is to write."""
    view = state.current()
    card = state.card(view.model)
    if card is None or not (generates(card) or card.transcribes):
        return
    if not generates(card):  # of what it hears it always writes, greedily
        if not view.target.strip():
            _how_many(lang, 1, view.generate or TOKENS_FROM_SOUND, "sidebar.generate_heard_help")
        return
    if card.kind == "encoder-decoder" and view.target.strip():
        return
    _how_many(lang, 0, view.generate, "sidebar.generate_help")
    sampling.expander(lang)


def _how_many(lang: Language, least: int, shown: int, explained: str) -> None:
    st.number_input(
        text(lang, "sidebar.generate"),
        min_value=least,
        max_value=numbers.MOST_WRITTEN,
        key=state.show_in_widget("generate", shown),
        help=text(lang, explained),
        on_change=sampling.take_number,
        args=("generate",),
    )


def _take_target() -> None:
    state.update(target=state.clean("target", state.widget_value("target")), query=None, key=None)


def _language(lang: Language) -> None:
    st.selectbox(
        text(lang, "language.label"),
        LANGUAGES,
        key=state.show_in_widget("lang", lang),
        format_func=lambda code: text(code, "language.name"),
        on_change=lambda: state.update(lang=state.widget_value("lang")),
    )
