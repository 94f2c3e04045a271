"""The part of the sidebar for a text from a file, which is too long for the text box.

In: the language. Out: an uploader; or, while a file is read, its name and a way back to the text
box. An upload is checked before it is kept, in this session only.
"""

import streamlit as st

from attnviz.errors import AttnVizError
from attnviz.i18n import Language, text
from attnviz.ui.session import current, messages, text_files, uploads, widgets
from attnviz.ui.session.messages import plain

WIDGET, PASTED = "text_file", "pasted"


def replaces_box(lang: Language) -> bool:
    """True if a file is read, which is then shown in place of the text box."""
    file = text_files.kept()
    if not current.view().input.file or file is None:
        return False
    count = f"{len(file.text):,}"
    st.caption(text(lang, "sidebar.reading_file", name=plain(file.name), characters=count))
    st.caption(text(lang, "compare.quote", text=plain(file.text.strip())))
    st.button(
        text(lang, "sidebar.use_box"),
        key=widgets.key("use_box"),
        on_click=current.update,
        kwargs={"file": False, "cut": False, **current.NO_POSITION},
        width="stretch",
    )
    return True


def upload(lang: Language) -> None:
    """An uploader, folded away."""
    with st.expander(text(lang, "sidebar.file"), key=widgets.key("file")):
        file = st.file_uploader(
            text(lang, "sidebar.file_upload"),
            type=["txt"],
            max_upload_size=text_files.MOST_BYTES // text_files.MIB,
            key=widgets.key(WIDGET),
            help=text(lang, "sidebar.file_help"),
            on_change=_take,
        )
        problem = uploads.problem(WIDGET)
        if file is not None and problem is not None:
            messages.show(lang, problem)


def take_pasted(typed: str) -> None:
    """Read a text that is too long for the box as if it had come from a file."""
    _keep(text(current.language(), "sidebar.pasted"), typed.encode("utf-8", "replace"), PASTED)


def pasting_problem(lang: Language) -> None:
    """Show why the text that was pasted last is not read, if it is not."""
    problem = uploads.problem(PASTED)
    if problem is not None:
        messages.show(lang, problem)


def _take() -> None:
    file = widgets.value(WIDGET)
    if file is not None:
        _keep(file.name, file.getvalue(), WIDGET)


def _keep(name: str, data: bytes, widget: str) -> None:
    try:
        text_files.keep(text_files.uploaded(name, data))
    except AttnVizError as error:
        uploads.keep_problem(error, widget)
