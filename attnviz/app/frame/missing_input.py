"""Sentences that say which input is missing, with a way to choose it.

In: a language and the view. Out: a heading, a sentence and buttons on the page.
"""

import streamlit as st

from attnviz.app.session import current, widgets
from attnviz.i18n import Language, text


def say_no_model(lang: Language) -> None:
    """No model is chosen."""
    _say_missing(lang, "model", name=text(lang, "menu.model_name"))


def say_no_picture(lang: Language) -> None:
    """The picture was uploaded in another session."""
    _say_missing(lang, "picture")


def say_no_sound(lang: Language) -> None:
    """The sound was uploaded in another session."""
    _say_missing(lang, "sound")


def say_no_text(lang: Language, typed: str | None) -> None:
    """The text is empty, or was uploaded in another session."""
    if typed is None:
        say_no_file(lang)
        return
    st.subheader(text(lang, "empty.title"))
    st.markdown(text(lang, "empty.body"))


def say_no_file(lang: Language) -> None:
    """The text was uploaded in another session; offers the text of the box."""
    _say_missing(lang, "file", file=text(lang, "menu.file"))
    st.button(
        text(lang, "menu.use_box"),
        key=widgets.key("start.box"),
        on_click=current.read_box,
    )


def say_no_capture(lang: Language) -> None:
    """The server does not keep the capture file of the address."""
    _say_missing(lang, "capture", file=text(lang, "opened.title"))


def say_no_target(lang: Language) -> None:
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
