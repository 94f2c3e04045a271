"""The part of the menu for a text from a file, which is too long to be typed.

In: the language. Out: an uploader, and the way of a pasted text that is too long. An upload is
checked before it is kept, in this session only.
"""

import streamlit as st

from attnviz.app.bar.uploader import Uploader, keep
from attnviz.app.session import current, messages, text_files, uploads, widgets
from attnviz.i18n import Language, text
from attnviz.types import MIB

WIDGET, PASTED = "text_file", "pasted"


def upload(lang: Language) -> None:
    """An uploader, folded away."""
    with st.expander(text(lang, "menu.file"), key=widgets.key("file")):
        most = text_files.MAX_BYTES // MIB
        texts = text(lang, "menu.file_upload"), text(lang, "menu.file_help")
        Uploader(WIDGET, "txt", most, *texts).show(lang, _take)


def take_pasted(typed: str) -> None:
    """Read a text that is too long for the box as if it had come from a file."""
    name = text(current.language(), "menu.pasted")
    keep(PASTED, _take, name, typed.encode("utf-8", "replace"))


def pasting_problem(lang: Language) -> None:
    """Show why the text that was pasted last is not read, if it is not."""
    problem = uploads.problem(PASTED)
    if problem is not None:
        messages.show(lang, problem)


def _take(name: str, data: bytes) -> None:
    text_files.keep(text_files.uploaded(name, data))
