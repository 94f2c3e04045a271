"""An uploader of a menu: one file, checked before it is kept, its refusal shown below.

In: what may be uploaded, and what to do with the bytes. Out: a widget; the file is handed on once,
when it arrives. A refusal stays until the next file.
"""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from attnviz.app.session import messages, uploads, widgets
from attnviz.i18n import Language

Take = Callable[[str, bytes], None]


@dataclass(frozen=True)
class Uploader:
    """A widget by its name: the ending of its files, the most MiB, and its two texts."""

    widget: str
    ending: str
    max_mib: int
    label: str
    tip: str

    def show(self, lang: Language, take: Take) -> None:
        """Draw it; `take` gets the name and the bytes of a new file, and may refuse them."""
        file = st.file_uploader(
            self.label,
            type=[self.ending],
            max_upload_size=self.max_mib,
            key=widgets.key(self.widget),
            help=self.tip,
            on_change=_hand_on,
            args=(self.widget, take),
        )
        problem = uploads.problem(self.widget)
        if file is not None and problem is not None:
            messages.show(lang, problem)


def _hand_on(widget: str, take: Take) -> None:
    file = widgets.value(widget)
    if file is not None:
        keep(widget, take, file.name, file.getvalue())


def keep(widget: str, take: Take, name: str, data: bytes) -> None:
    """Hand on a file; what refuses it is kept for the widget."""
    with uploads.taking(widget):
        take(name, data)
