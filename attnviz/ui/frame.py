"""What surrounds every picture: title, plain words, waiting, what went wrong, what was checked.

In: a language and a page's name. Out: what is on the page before and after its component. Errors
of the library are said in the visitor's language with what to do next; anything unexpected is
logged with its traceback and shown as one plain sentence. A traceback is never shown. Values that
came from a visitor are shown as text: no Markdown of theirs is read.
"""

import logging
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.errors import AttnVizError, UnsupportedAttention
from attnviz.i18n import Language, has, text
from attnviz.models.labels import visible
from attnviz.models.registry import REGISTRY
from attnviz.types import ModelKind
from attnviz.ui import cache, pictures, routes, sources, state

if TYPE_CHECKING:
    from attnviz.models.loaded import LoadedModel

logger = logging.getLogger(__name__)

EXAMPLES = ("tired", "wide", "bank", "names", "short", "japanese", "korean", "chinese")
# what another model mends
MODEL_ERRORS = (
    *("unknown_model", "folder_not_allowed", "no_folder", "no_config", "pickle_only"),
    *("no_weights", "damaged_file", "cannot_load", "nan_weights", "nan_output"),
    *("hub_unreachable", "model_too_large", "no_attention", "unknown_attention"),
    *("unmodelled_argument", "no_tokenizer", "mismatch", "kind_not_shown"),
    "no_image_processor",
)
# what letting it write nothing mends
WRITING_ERRORS = ("cannot_generate", "cannot_join", "static_cache", "no_room_to_write")
UNREADABLE: tuple[ModelKind, ...] = ("speech", "text-image")
WRITING: tuple[ModelKind, ...] = ("decoder", "encoder-decoder")
FIRST_WRITTEN = 8
MAX_SHOWN_CHARS = 120
MARKDOWN = re.compile(r"([!-/:-@\[-`{-~])")


def open_page(name: str) -> Language:
    """Show a page's title and its explanation; the language to go on in."""
    lang = state.language()
    with _row():
        st.title(text(lang, f"page.{name}.title"), width="stretch")
        with st.popover(text(lang, "explain.label")):
            st.markdown(text(lang, f"page.{name}.explain"))
    st.markdown(text(lang, f"page.{name}.intro"))
    return lang


def captured(lang: Language, with_second: bool = False) -> cache.Captured | None:
    """The capture of the current view; None after saying on the page why there is none."""
    view, card = state.current(), state.card(state.current().model)
    if not view.model:
        st.subheader(text(lang, "empty.model_title"))
        st.markdown(text(lang, "empty.model_body", name=text(lang, "sidebar.model_name")))
        return None
    if card is not None and card.kind != "vision" and not view.text.strip():
        _empty(lang)
        return None
    source = sources.source(view.model)  # what cannot be opened is refused before heavy imports
    loaded = _load(lang, source)
    if loaded.kind in UNREADABLE:
        raise UnsupportedAttention(
            f"{loaded.name} is a {loaded.kind} model; the app shows models that read text or"
            " pictures, the library others too",
            code="kind_not_shown",
            name=loaded.name,
        )
    if loaded.kind == "vision":
        return _pictured(lang, source)
    texts = (view.text, view.text2) if with_second and view.text2.strip() else (view.text,)
    request = _request(texts, loaded.kind)
    if loaded.kind == "encoder-decoder" and not (request.target or request.generate):
        _no_target(lang)
        return None
    with st.spinner(text(lang, "wait.capture", characters=sum(map(len, texts)))):
        found = cache.captured(source, request)
    _notices(lang, found)
    return found


def _pictured(lang: Language, source: sources.Source) -> cache.Captured | None:
    """The capture of the chosen picture; None after saying that it has to be chosen again."""
    image = state.picture()
    if image is None:
        st.subheader(text(lang, "empty.picture_title"))
        st.markdown(text(lang, "empty.picture_body"))
        return None
    request = cache.Request(picture=pictures.digest(image))
    with st.spinner(text(lang, "wait.picture")):
        return cache.captured(source, request, image)


def _request(texts: tuple[str, ...], kind: ModelKind) -> cache.Request:
    """What to run: a target only where there is a decoder to read it, and then nothing written."""
    view = state.current()
    target = view.target if kind == "encoder-decoder" and view.target.strip() else ""
    writes = kind in WRITING and not target
    return cache.Request(texts, view.cut, target, view.generate if writes else 0)


def _no_target(lang: Language) -> None:
    st.subheader(text(lang, "empty.target_title"))
    st.markdown(text(lang, "empty.target_body", target=text(lang, "sidebar.target")))
    st.button(
        text(lang, "action.write", count=FIRST_WRITTEN),
        key=state.widget_key("start.write"),
        on_click=state.update,
        kwargs={"generate": FIRST_WRITTEN},
    )


def _load(lang: Language, source: sources.Source) -> "LoadedModel":
    """Load the model; the sidebar is drawn again where it did not know what model that is."""
    name = state.current().model
    said = text(lang, "wait.model", model=plain(sources.label(lang, name)))
    with st.spinner(said, show_time=name not in REGISTRY):
        loaded = cache.model(source)
    if state.learn(name, loaded.card):
        st.rerun()
    return loaded


def _empty(lang: Language) -> None:
    st.subheader(text(lang, "empty.title"))
    st.markdown(text(lang, "empty.body", text=text(lang, "sidebar.text")))
    for name in EXAMPLES:
        sentence = text(lang, f"example.{name}")
        st.button(
            plain(sentence),
            key=state.widget_key(f"start.{name}"),
            on_click=state.update,
            kwargs={"text": sentence, "cut": False},
        )


def _notices(lang: Language, found: cache.Captured) -> None:
    model = found.model
    if model.notice is not None:
        st.warning(text(lang, "notice.hub", source=plain(model.card.hub_id)))
    group = found.groups[-1]  # the stack that writes runs last
    if group.written().any():
        labels = [
            of for of, new in zip(group.queries().labels, group.written(), strict=True) if new
        ]
        st.caption(text(lang, "notice.written", count=len(labels), tokens=plain(" ".join(labels))))
    written, asked = int(group.written().sum()), found.asked
    if written < asked:
        st.caption(text(lang, "notice.ended", count=written, asked=asked))
    tokens = [found.capture.tokens_of(batch) for batch in range(found.capture.n_batch)]
    if any(_was_cut(of.text, of.offsets, model.max_tokens) for of in tokens):
        st.info(text(lang, "cut.notice", limit=model.max_tokens))


def _was_cut(source: str, offsets: tuple[tuple[int, int], ...], limit: int) -> bool:
    reached = max(end for _, end in offsets)
    return len(offsets) >= limit and reached < len(source.rstrip())


def verification(lang: Language, found: cache.Captured) -> None:
    """Say how far our numbers are from the model's own, and how that is known."""
    measured = {"error": f"{found.error:.1e}", "tolerance": f"{found.tolerance:.0e}"}
    with _row():
        if found.verified:
            st.caption(text(lang, "verify.ok", **measured), width="stretch")
        else:
            st.error(text(lang, "verify.bad", **measured))
        with st.popover(text(lang, "verify.how")):
            st.markdown(text(lang, "verify.explain"))


def _row() -> DeltaGenerator:
    """A row with its parts at both ends."""
    return st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    )


@contextmanager
def guard(lang: Language) -> Iterator[None]:
    """Say what went wrong inside the block, in the visitor's language, and go on after it."""
    try:
        yield
    except AttnVizError as error:
        say(lang, error)
        _way_out(lang, error)
    except Exception:
        reference = uuid.uuid4().hex[:8]
        logger.exception("page failed, reference %s", reference)
        st.error(text(lang, "error.unexpected", reference=reference))
        st.button(text(lang, "action.reload"), key=state.widget_key("reload"))


def _details(error: AttnVizError) -> dict[str, str]:
    return {name: plain(str(value)) for name, value in error.details.items()}


def say(lang: Language, error: AttnVizError) -> None:
    """An error in the visitor's language."""
    key = f"error.{error.code}"
    if has(key):
        st.error(text(lang, key, **_details(error)))
    else:
        st.error(text(lang, "error.other", message=plain(str(error))))


def _way_out(lang: Language, error: AttnVizError) -> None:
    """A button that changes what caused the error, where one change mends it."""
    code, details = error.code, _details(error)
    first_head = ("action.first_head", {"layer": 0, "head": 0})
    nothing = ("action.write_nothing", {"generate": 0})
    known: dict[str, tuple[str, dict[str, Any]]] = {
        "too_many_tokens": ("cut.button", {"cut": True}),
        "bad_layer": first_head,
        "bad_head": first_head,
        **dict.fromkeys(WRITING_ERRORS, nothing),
    }
    if state.current().model != state.DEFAULT_MODEL:
        default_model = {"model": state.DEFAULT_MODEL, **state.UNCHOSEN}
        known = dict.fromkeys(MODEL_ERRORS, ("action.default_model", default_model)) | known
    if code in known:
        label, changes = known[code]
        default = text(lang, f"model.{state.DEFAULT_MODEL}.label")
        st.button(
            text(lang, label, **{"model": default, **details}),
            key=state.widget_key(f"way_out.{code}"),
            on_click=state.update,
            kwargs=changes,
        )


def own_code(lang: Language, module: str) -> None:
    """Say that only weights are known, and where they are shown."""
    st.info(text(lang, "own_code.body", module=plain(module)))
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


def plain(value: str) -> str:
    """A visitor's text for a place that reads Markdown: shown as it is, shortened, visible."""
    short = value if len(value) <= MAX_SHOWN_CHARS else value[: MAX_SHOWN_CHARS - 1] + "…"
    words = (visible(word) for word in short.split(" "))
    return MARKDOWN.sub(r"\\\1", " ".join(words))
