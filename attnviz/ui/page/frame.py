"""What surrounds every picture: title, plain words, waiting, notices, what was checked.

In: a language and a page's name. Out: what is on the page before and after its component; what went
wrong is said by `saying`.
"""

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.i18n import Language, text
from attnviz.models.registry import REGISTRY
from attnviz.types import ModelCard, ModelKind
from attnviz.ui.page import download
from attnviz.ui.server import cache, sources
from attnviz.ui.server.request import Request, writes
from attnviz.ui.session import examples, messages, pictures, routes, sounds, state, text_files
from attnviz.ui.sidebar import chat as chatting
from attnviz.ui.sidebar import sampling
from attnviz.views.captured import Captured
from attnviz.views.groups import Group
from attnviz.views.titles import model_title

if TYPE_CHECKING:
    from attnviz.models.loaded import LoadedModel

PICTURED: tuple[ModelKind, ...] = ("vision", "text-image")
TEXTLESS: tuple[ModelKind, ...] = ("vision", "speech", "module")
MOST_NAMED = 8  # letters or words that a notice names
MOST_TEMPLATE_CHARS = 400


def open_page(name: str) -> Language:
    """Show a page's title and its explanation; the language to go on in."""
    lang = state.language()
    with _row():
        st.title(text(lang, f"page.{name}.title"), width="stretch")
        with st.popover(text(lang, "explain.label")):
            st.markdown(text(lang, f"page.{name}.explain"))
    st.markdown(text(lang, f"page.{name}.intro"))
    return lang


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
    request = _request(texts, loaded.card)
    if loaded.kind == "encoder-decoder" and not (request.target or request.generate):
        _fill_target(lang, source, reading)
        return None
    with st.spinner(text(lang, "wait.capture", characters=sum(map(len, texts)))):
        found = cache.captured(source, request)
    _message(lang, found, texts)
    _notices(lang, found)
    _never_learned(lang, view.model, " ".join(texts))
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
    request = replace(_request(texts, card), picture=pictures.digest(image))
    with st.spinner(text(lang, "wait.picture")):
        found = cache.captured(source, request, image)
    if texts:
        _message(lang, found, texts)
        _notices(lang, found)
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
    of = _written(lang, found).queries()
    if _was_cut(of.text, of.offsets, len(of)):
        st.info(text(lang, "cut.notice", limit=len(of)))
    return found


def _request(texts: tuple[str, ...], card: ModelCard) -> Request:
    """What to run: a target only where there is a decoder to read it, and then nothing written."""
    view = state.current()
    target = view.target if card.kind == "encoder-decoder" and view.target.strip() else ""
    return request(texts, card, target)


def request(texts: tuple[str, ...], card: ModelCard, target: str) -> Request:
    """What to run of these texts: a target, or as much written as the view asks for."""
    view, chat = state.current(), chatting.asked(card)
    if target or not (writes(card) and view.generate):
        return Request(texts, view.cut, chat, target)
    return Request(texts, view.cut, chat, generate=view.generate, sampling=sampling.current())


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


def text_label(lang: Language) -> str:
    """What the box for the text is called: a model that translates reads a source."""
    card = state.card(state.current().model)
    two = card is not None and card.kind == "encoder-decoder"
    return text(lang, "sidebar.source" if two else "sidebar.text")


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


def _notices(lang: Language, found: Captured) -> None:
    model = found.model
    if model.notice is not None:
        st.warning(text(lang, "notice.hub", source=messages.plain(model.card.hub_id)))
    group = _written(lang, found)
    written, asked = int(group.written().sum()), found.asked
    if written < asked:
        st.caption(text(lang, "notice.ended", count=written, asked=asked))
    tokens = [found.capture.tokens_of(batch) for batch in range(found.capture.n_batch)]
    if any(_was_cut(of.text, of.offsets, model.max_tokens) for of in tokens):
        st.info(text(lang, "cut.notice", limit=model.max_tokens))


def _message(lang: Language, found: Captured, texts: tuple[str, ...]) -> None:
    """What the model reads of a message: all that its template wrote, roles included."""
    if not chatting.asked(found.model.card):
        return
    tokens = found.capture.tokens
    read = " ".join(tokens.labels[: len(tokens) - found.capture.n_generated])
    if found.picture is not None:  # the pieces of a picture have no words
        read = tokens.text
    st.caption(text(lang, "notice.chat", tokens=messages.plain(read, MOST_TEMPLATE_CHARS)))
    if state.current().cut and tokens.text and texts[0].strip() not in tokens.text:
        st.info(text(lang, "cut.notice", limit=found.model.max_tokens))


def _written(lang: Language, found: Captured) -> Group:
    """Say which tokens the model wrote, if any; the attentions of what writes."""
    group = found.groups[-1]  # the stack that writes runs last
    if group.written().any():
        labels = [
            of for of, new in zip(group.queries().labels, group.written(), strict=True) if new
        ]
        st.caption(
            text(lang, "notice.written", count=len(labels), tokens=messages.plain(" ".join(labels)))
        )
    return group


def _never_learned(lang: Language, name: str, shown: str) -> None:
    """Say what of a text the model has no way to understand."""
    letters = examples.foreign_letters(name, shown)
    if letters:
        spoken = [text(lang, f"spoken.{code}") for code in examples.languages(name)]
        said = letters if len(letters) <= MOST_NAMED else f"{letters[:MOST_NAMED]} …"
        learned = reduce(lambda a, b: text(lang, "spoken.pair", first=a, second=b), spoken)
        st.info(text(lang, "notice.language", languages=learned, letters=messages.plain(said)))
        return
    words = examples.unknown_words(name, shown)
    if examples.has_no_date(name, shown):
        st.info(text(lang, "notice.no_date"))
    elif words:
        said = ", ".join(words[:MOST_NAMED]) + (" …" if len(words) > MOST_NAMED else "")
        st.info(text(lang, "notice.unknown_words", words=messages.plain(said)))


def _was_cut(source: str, offsets: tuple[tuple[int, int], ...], limit: int) -> bool:
    reached = max(end for _, end in offsets)
    return len(offsets) >= limit and reached < len(source.rstrip())


def verification(lang: Language, found: Captured) -> None:
    """Say how far our numbers are from the model's own, and how that is known."""
    measured = {"error": f"{found.error:.1e}", "tolerance": f"{found.tolerance:.0e}"}
    with _row():
        if found.verified:
            st.caption(text(lang, "verify.ok", **measured), width="stretch")
        else:
            st.error(text(lang, "verify.bad", **measured))
        with st.popover(text(lang, "verify.how")):
            own = {of.own_code(layer) for of in found.groups for layer in range(of.n_layers)}
            if False in own:
                st.markdown(text(lang, "verify.explain"))
            if True in own:
                st.markdown(text(lang, "verify.explain_own_code"))


def _row() -> DeltaGenerator:
    """A row with its parts at both ends."""
    return st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    )


def too_long(lang: Language, page: str, **values: str) -> None:
    """Say which limit a text is over, and where one head of it is shown all the same."""
    st.info(text(lang, f"long.{page}", **values))
    st.page_link(
        routes.file("head"),
        label=text(lang, "long.link"),
        query_params=state.params(state.current()),
    )


def own_code(lang: Language, module: str) -> None:
    """Say that only weights are known, and where they are shown."""
    st.info(text(lang, "own_code.body", module=messages.plain(module)))
    st.page_link(
        routes.file("head"),
        label=text(lang, "own_code.link"),
        query_params=state.params(state.current()),
    )


def adjusted(lang: Language) -> None:
    """Say which parts of the address made no sense and were replaced."""
    names = state.rejected()
    if names:
        st.warning(text(lang, "notice.adjusted", names=", ".join(names)))
