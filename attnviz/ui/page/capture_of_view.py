"""The capture of the current view, or a sentence on the page that says why there is none.

In: a language and the view. Out: a `Captured`, after waiting visibly; None where something has to
be chosen or typed first.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.models.registry import REGISTRY
from attnviz.types import ModelCard
from attnviz.ui.page import download, notices
from attnviz.ui.server import cache, sources
from attnviz.ui.server.request import Request
from attnviz.ui.session import examples, messages, pictures, sounds, state, text_files, view_request
from attnviz.ui.session.labels import PICTURED, TEXTLESS, text_label
from attnviz.views.captured import Captured
from attnviz.views.titles import model_title

if TYPE_CHECKING:
    from attnviz.models.loaded import LoadedModel


def captured(lang: Language, with_second: bool = False) -> Captured | None:
    """The capture of the current view; None after saying on the page why there is none."""
    view, card = state.current(), state.card(state.current().model)
    if not view.model:
        st.subheader(text(lang, "empty.model_title"))
        st.markdown(text(lang, "empty.model_body", name=text(lang, "sidebar.model_name")))
        return None
    reading = text_files.reading()
    if card is not None and card.kind not in TEXTLESS and not (reading or "").strip():
        _no_file(lang) if reading is None else _empty(lang)
        return None
    source = sources.source(view.model)  # what cannot be opened is refused before heavy imports
    loaded = load(lang, source, view.model)
    if loaded.kind in PICTURED:
        return _pictured(lang, source, loaded.card, reading)
    if loaded.kind == "speech":
        return _heard(lang, source, loaded)
    if loaded.kind == "module":
        return cache.captured(source, Request())
    if reading is None:
        _no_file(lang)
        return None
    texts = (reading, view.text2) if with_second and view.text2.strip() else (reading,)
    request = view_request.of_view(texts, loaded.card)
    if loaded.kind == "encoder-decoder" and not (request.target or request.generate):
        _fill_target(lang, source, reading)
        return None
    with st.spinner(text(lang, "wait.capture", characters=sum(map(len, texts)))):
        found = cache.captured(source, request)
    notices.of_message(lang, found, texts)
    notices.of_capture(lang, found)
    notices.never_learned(lang, view.model, " ".join(texts))
    return found


def _pictured(
    lang: Language, source: sources.Source, card: ModelCard, reading: str | None
) -> Captured | None:
    """The capture of the chosen picture, with a text where the model reads one beside it; None
    after saying that the picture has to be chosen again."""
    image = state.picture()
    if image is None:
        st.subheader(text(lang, "empty.picture_title"))
        st.markdown(text(lang, "empty.picture_body"))
        return None
    texts = (reading,) if card.kind == "text-image" and reading is not None else ()
    request = replace(view_request.of_view(texts, card), picture=pictures.digest(image))
    with st.spinner(text(lang, "wait.picture")):
        found = cache.captured(source, request, image)
    if texts:
        notices.of_message(lang, found, texts)
        notices.of_capture(lang, found)
    return found


def _heard(lang: Language, source: sources.Source, loaded: "LoadedModel") -> Captured | None:
    """The capture of the chosen sound; None after saying that it has to be chosen again."""
    heard = sounds.named(state.current().sound)
    if heard is None:
        st.subheader(text(lang, "empty.sound_title"))
        st.markdown(text(lang, "empty.sound_body"))
        return None
    with st.spinner(text(lang, "wait.sound")):
        request = sounds.request(loaded.card, heard, state.current().target)
        found = cache.captured(source, request, heard)
    of = notices.of_written(lang, found).queries()
    if notices.was_cut(of.text, of.offsets, len(of)):
        st.info(text(lang, "cut.notice", limit=len(of)))
    return found


def _fill_target(lang: Language, source: sources.Source, shown: str) -> None:
    """Put the model's own answer into the target box, where the model translates or was asked to.

    Of another model nothing is known, not even how long it would take: it writes when told to.
    """
    view, asked = state.current(), state.target_is_asked()
    if asked or view.model in REGISTRY:
        with st.spinner(text(lang, "wait.target")):
            found = state.clean("target", cache.answer(source, shown, view.cut))
        if found.strip():
            state.update(target=found)
            st.rerun()
        st.info(text(lang, "empty.target_answer"))
    st.subheader(text(lang, "empty.target_title"))
    st.markdown(text(lang, "empty.target_body", target=text(lang, "sidebar.target")))
    st.button(
        text(lang, "action.let_write"),
        key=state.widget_key("start.write"),
        on_click=state.ask_for_target,
    )


def load(lang: Language, source: sources.Source, name: str) -> "LoadedModel":
    """Load a model that can be shown; the sidebar is drawn again where it was not known."""
    download.fetched(lang, source)
    said = text(lang, "wait.model", model=messages.plain(model_title(lang, name)))
    with st.spinner(said, show_time=name not in REGISTRY):
        loaded = cache.model(source)
    if state.learn(name, loaded.card):
        st.rerun()
    return loaded


def _empty(lang: Language) -> None:
    st.subheader(text(lang, "empty.title"))
    st.markdown(text(lang, "empty.body", text=text_label(lang)))
    for example in examples.of(state.current().model):
        st.button(
            messages.plain(example.text),
            key=state.widget_key(f"start.{example.name}"),
            on_click=state.open_text,
            args=(example.text,),
        )


def _no_file(lang: Language) -> None:
    """Say that the text of the address was an upload, and offer the text of the box."""
    st.subheader(text(lang, "empty.file_title"))
    st.markdown(text(lang, "empty.file_body", file=text(lang, "sidebar.file")))
    st.button(
        text(lang, "sidebar.use_box"),
        key=state.widget_key("start.box"),
        on_click=state.update,
        kwargs={"file": False},
    )
