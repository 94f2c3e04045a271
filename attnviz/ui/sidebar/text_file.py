"""The part of the sidebar for a text from a file, which is too long for the text box.

In: the language. Out: a place to upload a file; or, while one is read, which it is and a way back
to the text box. What is uploaded is checked before it is kept, in this session only.
"""

import streamlit as st

from attnviz.errors import AttnVizError
from attnviz.i18n import Language, text
from attnviz.ui.session import state, text_files
from attnviz.ui.session.messages import plain, say

WIDGET, PASTED = "text_file", "pasted"


def shown(lang: Language) -> bool:
    """Whether a file is read, in which case it stands where the text box would."""
    file = text_files.kept()
    if not state.current().file or file is None:
        return False
    name, characters = plain(file.name), f"{len(file.text):,}"
    st.caption(text(lang, "sidebar.reading_file", name=name, characters=characters))
    st.caption(f"“{plain(file.text.strip())}”")
    st.button(
        text(lang, "sidebar.use_box"),
        key=state.widget_key("use_box"),
        on_click=state.update,
        kwargs={"file": False, "cut": False, "query": None, "key": None},
        width="stretch",
    )
    return True


def upload(lang: Language) -> None:
    """A place for a file, folded away until it is wanted."""
    with st.expander(text(lang, "sidebar.file"), key=state.widget_key("file")):
        file = st.file_uploader(
            text(lang, "sidebar.file_upload"),
            type=["txt"],
            max_upload_size=text_files.MOST_BYTES // text_files.MIB,
            key=state.widget_key(WIDGET),
            help=text(lang, "sidebar.file_help"),
            on_change=_take,
        )
        problem = state.upload_problem(WIDGET)
        if file is not None and problem is not None:
            say(lang, problem)


def take_pasted(typed: str) -> None:
    """Read a text that is too long for the box as if it had come from a file."""
    _read(text(state.language(), "sidebar.pasted"), typed.encode("utf-8", "replace"), PASTED)


def pasting_problem(lang: Language) -> None:
    """Say why what was pasted last is not read, if it is not."""
    problem = state.upload_problem(PASTED)
    if problem is not None:
        say(lang, problem)


def _take() -> None:
    file = state.widget_value(WIDGET)
    if file is None:
        return
    _read(file.name, file.getvalue(), WIDGET)


def _read(name: str, data: bytes, widget: str) -> None:
    try:
        text_files.read(text_files.uploaded(name, data))
    except AttnVizError as error:
        state.keep_problem(error, widget)
