"""The part of the menu for a text from a file, which is too long for the text box.

In: the language. Out: an uploader; or, while a file is read, its name and a way back to the text
box. An upload is checked before it is kept, in this session only.
"""

import streamlit as st

from attnviz.app.bar.uploader import Uploader, keep
from attnviz.app.session import current, messages, text_files, uploads, widgets
from attnviz.app.session.messages import plain
from attnviz.i18n import Language, text
from attnviz.types import MIB

WIDGET, PASTED = "text_file", "pasted"


def replaces_box(lang: Language) -> bool:
    """True if a file is read, which is then shown in place of the text box."""
    file = text_files.kept()
    if not current.view().input.file or file is None:
        return False
    count = f"{len(file.text):,}"
    st.caption(text(lang, "menu.reading_file", name=plain(file.name), characters=count))
    st.caption(text(lang, "compare.quote", text=plain(file.text.strip())))
    st.button(
        text(lang, "menu.use_box"),
        key=widgets.key("use_box"),
        on_click=current.read_box,
        width="stretch",
    )
    return True


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
