"""The part of the menu for a capture from a file, which is shown without its model.

In: the language. Out: an uploader; or, while a capture is open, what it is and a way back to the
model. An upload is checked before it is kept; a refusal is shown beside the uploader.
"""

import streamlit as st

from attnviz.app.bar.uploader import Uploader
from attnviz.app.server import opened_captures
from attnviz.app.session import current, widgets
from attnviz.app.session.messages import plain
from attnviz.i18n import Language, text
from attnviz.pictures.group.titles import model_title
from attnviz.types import MIB

WIDGET = "capture_file"


def replaces_input(lang: Language) -> bool:
    """True if a capture is open, which is then described in place of text and model."""
    digest = current.view().input.capture
    if not digest:
        return False
    captured = opened_captures.opened(digest)
    if captured is not None:
        tokens = captured.capture.tokens
        model = plain(model_title(lang, captured.name))
        st.caption(text(lang, "opened.reading", model=model, count=len(tokens)))
        words = tokens.text.strip() or " ".join(tokens.labels)
        st.caption(text(lang, "compare.quote", text=plain(words)))
    st.button(
        text(lang, "opened.close"),
        key=widgets.key("opened.close"),
        on_click=current.open_capture,
        args=("",),
        width="stretch",
    )
    return True


def upload(lang: Language) -> None:
    """An uploader, folded away."""
    with st.expander(text(lang, "opened.title"), key=widgets.key("opened")):
        most = opened_captures.MAX_BYTES // MIB
        texts = text(lang, "opened.upload"), text(lang, "opened.help")
        Uploader(WIDGET, "safetensors", most, *texts).show(lang, _take)


def _take(name: str, data: bytes) -> None:
    current.open_capture(opened_captures.open_upload(data, name))
