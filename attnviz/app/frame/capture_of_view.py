"""The capture of the current view, or a sentence on the page that says why there is none.

In: a language and the view. Out: what is shown, after waiting visibly; None if something has to be
chosen or typed first. Each way in which a model is given its input is a function of its own.
"""

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.frame import download, missing_input, notices, strip
from attnviz.app.server import captures, loading, opened_captures, sources
from attnviz.app.session import (
    address,
    current,
    messages,
    model_cards,
    sounds,
    text_files,
    uploads,
    view_request,
)
from attnviz.app.session.labels import READS_NO_TEXT, READS_PICTURES
from attnviz.capture.request import Request
from attnviz.i18n import Language, text
from attnviz.models.registry import REGISTRY
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.groups import chosen
from attnviz.pictures.group.titles import model_title
from attnviz.types import ModelCard

if TYPE_CHECKING:
    from attnviz.models.loaded_model import LoadedModel

SHORT = 500  # characters, of which a small model's pass is over before a spinner shows


def shown(lang: Language, with_second: bool = False) -> PageContext | None:
    """The capture of the view and the group that it names; None after saying what is missing.

    Its tokens go into the strip. `with_second` runs the second sentence in the same batch.
    """
    view = current.view()
    if view.input.capture:
        return _opened(lang, view.input.capture)
    if not view.model:
        missing_input.say_no_model(lang)
        return None
    typed = text_files.input_text()
    card = model_cards.card(view.model)
    if card is not None and card.kind not in READS_NO_TEXT and not (typed or "").strip():
        missing_input.say_no_text(lang, typed)
        return None
    source = sources.source(view.model)  # what cannot be opened is refused before heavy imports
    captured = _captured(lang, source, load(lang, source, view.model), typed, with_second)
    if captured is None:
        return None
    place = view.place
    found = PageContext(lang, captured, chosen(captured.groups, place.stack, place.kind))
    strip.fill(found, with_second)
    return found


def _opened(lang: Language, digest: str) -> PageContext | None:
    """Show a capture file; None after saying that this server does not keep it."""
    captured = opened_captures.opened(digest)
    if captured is None:
        missing_input.say_no_capture(lang)
        return None
    notices.generated(lang, captured)
    place = current.view().place
    found = PageContext(lang, captured, chosen(captured.groups, place.stack, place.kind))
    strip.fill(found)
    return found


def load(lang: Language, source: sources.Source, name: str) -> "LoadedModel":
    """Load the model of a name; the app runs again if its card was not known to the menu."""
    download.download(lang, source)
    title = messages.plain(model_title(lang, name))
    with (
        nullcontext()
        if loading.is_loaded(source)
        else st.spinner(text(lang, "wait.model", model=title), show_time=name not in REGISTRY)
    ):
        loaded = loading.model(source)
    if model_cards.remember(name, loaded.card):
        st.rerun()
    return loaded


def _captured(
    lang: Language,
    source: sources.Source,
    loaded: "LoadedModel",
    typed: str | None,
    with_second: bool,
) -> AppCapture | None:
    """The capture of whatever the model reads."""
    if loaded.kind in READS_PICTURES:
        return _of_picture(lang, source, loaded.card, typed)
    if loaded.kind == "speech":
        return _of_sound(lang, source, loaded.card)
    if loaded.kind == "module":
        return captures.recall(source, Request())
    if typed is None:
        missing_input.say_no_file(lang)
        return None
    second = current.view().input.text2 if with_second else ""
    texts = (typed, second) if second.strip() else (typed,)
    return _of_texts(lang, source, loaded.card, texts)


def _of_texts(
    lang: Language, source: sources.Source, card: ModelCard, texts: tuple[str, ...]
) -> AppCapture | None:
    """The capture of one text, or of two in one batch; None while a target is missing."""
    request = view_request.of_input(card, texts, target=current.view().input.target)
    if card.kind == "encoder-decoder" and not (request.target or request.generation):
        _fill_target(lang, source, texts[0])
        return None
    n_characters = sum(map(len, texts))
    said = text(lang, "wait.capture", characters=n_characters)
    is_short = n_characters <= SHORT and request.generation is None
    with messages.spinner(said, quick=source.name in REGISTRY and is_short):
        captured = captures.recall(source, request)
    notices.of_texts(lang, captured, texts)
    notices.never_learned(lang, current.view().model, " ".join(texts))
    return captured


def _of_picture(
    lang: Language, source: sources.Source, card: ModelCard, typed: str | None
) -> AppCapture | None:
    """The capture of the chosen picture, with the text of a model that reads both."""
    image = uploads.picture()
    if image is None:
        missing_input.say_no_picture(lang)
        return None
    texts = (typed,) if card.kind == "text-image" and typed is not None else ()
    request = view_request.of_input(card, texts, image=image)
    with st.spinner(text(lang, "wait.picture")):
        captured = captures.recall(source, request)
    if texts:
        notices.of_texts(lang, captured, texts)
    return captured


def _of_sound(lang: Language, source: sources.Source, card: ModelCard) -> AppCapture | None:
    """The capture of the chosen sound."""
    view = current.view()
    sound = sounds.named(view.input.sound)
    if sound is None:
        missing_input.say_no_sound(lang)
        return None
    with st.spinner(text(lang, "wait.sound")):
        request = view_request.of_input(card, sound=sound, target=view.input.target)
        captured = captures.recall(source, request)
    notices.of_sound(lang, captured)
    return captured


def _fill_target(lang: Language, source: sources.Source, typed: str) -> None:
    """Put the model's own answer into the target box, if the model is ours or was asked to answer.

    How long another model would take is not known: it generates when it is told to.
    """
    view = current.view()
    if current.target_is_wanted() or view.model in REGISTRY:
        with st.spinner(text(lang, "wait.target")):
            answer = address.cleaned("target", captures.answer(source, typed, view.input.cut))
        if answer.strip():
            answered = replace(view, input=replace(view.input, target=answer))
            # they were made on this answer, which a link may leave out
            current.update(answered, keeps=("masks", "edits", "word"))
            st.rerun()
        st.info(text(lang, "empty.target_answer"))
    missing_input.say_no_target(lang)
