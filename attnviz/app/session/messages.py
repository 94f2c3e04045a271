"""Errors in the visitor's language, and visitors' texts escaped for Markdown.

In: an error, or a text that somebody typed. Out: a message on the page, with a button that changes
the cause where one change fixes it. An unexpected error is logged with its traceback and shown as
one plain sentence; a traceback is never shown.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace

import streamlit as st

from attnviz.app.server.unexpected import logged
from attnviz.app.session import current, widgets
from attnviz.app.session.view import DEFAULT_MODEL, View
from attnviz.checks.examples import languages
from attnviz.errors import AttnVizError
from attnviz.i18n import DEFAULT, Language, has, in_english, text
from attnviz.i18n.numbers import local, number
from attnviz.tokens.labels import visible

# errors that another model mends
MODEL_ERRORS = (
    *("unknown_model", "folder_not_allowed", "no_folder", "no_config", "pickle_only"),
    *("no_weights", "damaged_file", "cannot_load", "nan_weights", "nan_output"),
    *("hub_unreachable", "model_too_large", "no_attention", "unknown_attention"),
    *(
        "too_many_files",
        "unmodelled_argument",
        "no_tokenizer",
        "tokenizer_mismatch",
        "mismatch",
        "no_image_processor",
    ),
)
# errors that generating no tokens mends
GENERATION_ERRORS = ("cannot_generate", "cannot_join", "static_cache", "no_room_to_write")
MAX_SHOWN_CHARS = 120
# details whose values are words of the library, said in the visitor's language
TRANSLATED = frozenset(("kind", "matrix"))
# details that Python wrote as numbers with decimals, as no visitor types them
NUMBERS = frozenset(("before", "error", "largest", "source", "tolerance"))
WRITTEN = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?")
# what a browser's Markdown makes a link of, even behind escapes: an address, a host, a mailbox
LINKED = re.compile(r"(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?=@)", re.IGNORECASE)
WORD_JOINER = "\u2060"  # without width
MARKDOWN = re.compile(r"([!-/:-@\[-`{-~])")


@contextmanager
def guard(lang: Language) -> Iterator[None]:
    """Show the error of the block in the visitor's language, and go on after it."""
    try:
        yield
    except AttnVizError as error:
        show(lang, error)
        _way_out(lang, error)
    except Exception:
        show(lang, logged("page"))
        st.button(text(lang, "action.reload"), key=widgets.key("reload"))


@contextmanager
def waiting() -> Iterator[Callable[[int], None]]:
    """A line that says how many visitors' runs are before this one, while the block runs."""
    line, lang = st.empty(), current.language()

    def show(count: int) -> None:
        line.info(text(lang, "wait.turn", count=count))

    try:
        yield show
    finally:
        line.empty()


def spinner(said: str, *, quick: bool, show_time: bool = False) -> AbstractContextManager[None]:
    """Streamlit's, or none around what is over before it shows.

    Its thread and its place on the page cost as much as half a pass of a small model.
    """
    return nullcontext() if quick else st.spinner(said, show_time=show_time)


def _details(lang: Language, error: AttnVizError) -> dict[str, str]:
    return {name: _detail(lang, name, value) for name, value in error.details.items()}


def _detail(lang: Language, name: str, value: str | int) -> str:
    """A value of an error; words and numbers of the library are said in the visitor's language."""
    if isinstance(value, int):
        return number(lang, value)
    if name in NUMBERS and WRITTEN.fullmatch(value):
        return local(lang, value)
    if name not in TRANSLATED:
        return plain(value)
    if name == "matrix":
        return text(lang, "lab.mask_kind") if value == "mask" else value.upper()
    key = f"model_kind.{value}"
    return text(lang, key) if has(key) else plain(value)


def show(lang: Language, error: AttnVizError) -> None:
    """Show an error in the visitor's language."""
    alone = f"error_one.{error.code}"
    is_alone = has(alone) and 0 in (error.details.get("last"), error.details.get("more"))
    key = alone if is_alone else f"error.{error.code}"
    if has(key):
        st.error(text(lang, key, **_details(lang, error)))
    else:
        st.error(text(lang, "error.other", message=plain(str(error))))


def _cut(view: View) -> View:
    return replace(view, input=replace(view.input, cut=True))


def _without_chat(view: View) -> View:
    return replace(view, input=replace(view.input, chat=False))


def _without_edits(view: View) -> View:
    return replace(view, drawing=replace(view.drawing, edits=""))


def _at_first_head(view: View) -> View:
    return replace(view, place=replace(view.place, layer=0, head=0))


def _generating_nothing(view: View) -> View:
    return replace(view, generating=replace(view.generating, n_tokens=0))


def _of_default_model(view: View) -> View:
    return replace(view.of_another_model, model=DEFAULT_MODEL)


# the label of the button for each error that one change of the view mends, and the change
WAYS_OUT: dict[str, tuple[str, Callable[[View], View]]] = {
    "too_many_tokens": ("cut.button", _cut),
    "bad_chat_template": ("action.no_chat", _without_chat),
    "bad_edit": ("action.no_edits", _without_edits),
    "edit_outside": ("action.no_edits", _without_edits),
    "bad_layer": ("action.first_head", _at_first_head),
    "bad_head": ("action.first_head", _at_first_head),
    "run_failed": ("action.reload", lambda view: view),
    **dict.fromkeys(GENERATION_ERRORS, ("action.write_nothing", _generating_nothing)),
}


def _way_out(lang: Language, error: AttnVizError) -> None:
    """A button that changes the cause of the error, where one change fixes it."""
    code, details = error.code, _details(lang, error)
    ways = WAYS_OUT
    if current.view().model != DEFAULT_MODEL:
        ways = dict.fromkeys(MODEL_ERRORS, ("action.default_model", _of_default_model)) | ways
    if code in ways:
        label, changed = ways[code]
        default = text(lang, f"model.{DEFAULT_MODEL}.label")
        st.button(
            text(lang, label, **{"model": default, **details}),
            key=widgets.key(f"way_out.{code}"),
            on_click=lambda: current.update(changed(current.view())),
        )


def plain(value: str, most: int = MAX_SHOWN_CHARS) -> str:
    """A visitor's text, shortened and escaped for Markdown, visible, without live links."""
    line = LINKED.sub(WORD_JOINER, shortened(value, most))
    return MARKDOWN.sub(r"\\\1", line)


def quoted(lang: Language, model: str, value: str) -> str:
    """A token or a text of a model, as `plain`; marked where it can only be English."""
    return in_english(lang, plain(value)) if languages(model) == (DEFAULT,) else plain(value)


def shortened(value: str, most: int = MAX_SHOWN_CHARS) -> str:
    """A text shortened with an ellipsis, each of its characters visible."""
    short = value if len(value) <= most else value[: most - 1] + "…"
    return " ".join(visible(word) for word in short.split(" "))
