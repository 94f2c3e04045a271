"""A line where something needs the model, and a capture file is shown without it.

In: what is shown. Out: one sentence, and a button that runs an embedded model on the file's text.
"""

import streamlit as st

from attnviz.app.session import address, current, messages, widgets
from attnviz.i18n import text
from attnviz.models.registry import REGISTRY
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.titles import model_title


def say(shown: PageContext, place: str) -> bool:
    """True if the model is missing, after saying so; `place` tells the lines of a page apart."""
    captured, lang = shown.captured, shown.lang
    if captured.loaded is not None:
        return False
    title = messages.plain(model_title(lang, captured.name))
    st.info(text(lang, "opened.needs_model", model=title))
    words = address.cleaned("text", captured.capture.tokens.text)
    if captured.name in REGISTRY and words.strip():
        st.button(
            text(lang, "opened.run", model=title),
            key=widgets.key(f"opened.run.{place}"),
            on_click=_run,
            args=(captured.name, words),
        )
    return True


def _run(model: str, words: str) -> None:
    """Show the model itself, on the text of the capture."""
    current.open_model(model)
    current.open_text(words)
    current.generate(0)
