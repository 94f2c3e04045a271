"""The capture of the current view, or a sentence on the page that says why there is none.

In: a language and the view. Out: what is shown, after waiting visibly; None if something has to be
chosen or typed first, with a way to do that. Each way in which a model is given its input is a
function of its own. A model of the hub is downloaded once in the life of the server, with how many
bytes are here, of how many; a registered model or a folder is here already.
"""

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.frame import notices, strip
from attnviz.app.server import captures, loading, opened_captures, sources
from attnviz.app.server.sources import Source
from attnviz.app.session import (
    address,
    current,
    messages,
    model_cards,
    sounds,
    uploads,
    view_request,
    widgets,
)
from attnviz.app.session.model_cards import READS_NO_TEXT, READS_PICTURES
from attnviz.capture.request import Request
from attnviz.i18n import Language, text
from attnviz.i18n.numbers import number
from attnviz.models.registry import HUB_ID, REGISTRY
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.groups import chosen
from attnviz.pictures.group.titles import model_title
from attnviz.types import ModelCard

if TYPE_CHECKING:
    from attnviz.models.loaded_model import LoadedModel

SHORT = 500  # characters, of which a small model's pass is over before a spinner shows
PAUSE_S = 0.2
MB = 1_000_000


def shown(lang: Language, with_second: bool = False) -> PageContext | None:
    """The capture of the view and the group that it names; None after saying what is missing.

    Its tokens go into the strip. `with_second` runs the second sentence in the same batch.
    """
    view = current.view()
    if view.input.capture:
        return _opened(lang, view.input.capture)
    if not view.model:
        _say_missing(lang, "model", name=text(lang, "menu.model_name"))
        return None
    typed = uploads.input_text()
    card = model_cards.card(view.model)
    if card is not None and card.kind not in READS_NO_TEXT and not (typed or "").strip():
        _say_no_text(lang, typed)
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
        _say_missing(lang, "capture", file=text(lang, "opened.title"))
        return None
    notices.generated(lang, captured)
    place = current.view().place
    found = PageContext(lang, captured, chosen(captured.groups, place.stack, place.kind))
    strip.fill(found)
    return found


def load(lang: Language, source: sources.Source, name: str) -> "LoadedModel":
    """Load the model of a name; the app runs again if its card was not known to the menu."""
    _download(lang, source)
    title = messages.plain(model_title(lang, name))
    said, is_loaded = text(lang, "wait.model", model=title), loading.is_loaded(source)
    with messages.spinner(said, quick=is_loaded, show_time=name not in REGISTRY):
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
        _say_no_file(lang)
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
        _say_missing(lang, "picture")
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
        _say_missing(lang, "sound")
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
    _say_no_target(lang)


def _download(lang: Language, source: Source) -> None:
    """Download a hub model, with a progress bar."""
    if source.name in REGISTRY or source.stamp or not HUB_ID.fullmatch(source.name):
        return
    if loading.is_downloaded(source.name):
        return
    bar, last = st.empty(), 0.0

    def report(n_bytes: int, n_total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if n_total > 0 and (now - last >= PAUSE_S or n_bytes >= n_total):
            last = now
            bar.progress(min(n_bytes / n_total, 1.0), download_sentence(lang, n_bytes, n_total))

    try:
        loading.download(source.name, report)
    finally:
        bar.empty()


def download_sentence(lang: Language, n_bytes: int, n_total: int) -> str:
    """The downloaded and the total megabytes; small ones with more digits."""
    digits = 1 if n_total >= MB else 3
    done, total = (number(lang, n / MB, f".{digits}f") for n in (n_bytes, n_total))
    return text(lang, "wait.download", done=done, total=total)


def _say_no_text(lang: Language, typed: str | None) -> None:
    """The text is empty, or was uploaded in another session."""
    if typed is None:
        _say_no_file(lang)
        return
    st.subheader(text(lang, "empty.title"))
    st.markdown(text(lang, "empty.body"))


def _say_no_file(lang: Language) -> None:
    """The text was uploaded in another session; offers the text of the box."""
    _say_missing(lang, "file", file=text(lang, "menu.file"))
    st.button(
        text(lang, "menu.use_box"),
        key=widgets.key("start.box"),
        on_click=current.read_box,
    )


def _say_no_target(lang: Language) -> None:
    """The decoder has no target; offers to let the model generate it."""
    _say_missing(lang, "target", target=text(lang, "menu.target"))
    st.button(
        text(lang, "action.let_write"),
        key=widgets.key("start.write"),
        on_click=current.want_target,
    )


def _say_missing(lang: Language, what: str, **values: str) -> None:
    st.subheader(text(lang, f"empty.{what}_title"))
    st.markdown(text(lang, f"empty.{what}_body", **values))
