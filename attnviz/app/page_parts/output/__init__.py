"""The model's output, one view for each kind of output: the page Output shows those that fit.

In: what is shown. Out: what is on the page between its title and the verification. A view is a
module here with `fits(captured)` and `show(shown)`; the numbers come from
`attnviz.experiment.outputs`, the pictures from components.
"""

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import streamlit as st

from attnviz.app.page_parts.output import classes, decoder, picture, similarity, translation
from attnviz.i18n import text
from attnviz.pictures.group.app_capture import AppCapture, PageContext

if TYPE_CHECKING:
    from attnviz.files.figures import View


@runtime_checkable
class OutputView(Protocol):
    """One way to show a model's output."""

    def fits(self, captured: AppCapture) -> bool:
        """True if the model has this kind of output."""

    def show(self, shown: PageContext) -> None:
        """Draw it."""


VIEWS: tuple[OutputView, ...] = (classes, picture, translation, similarity, decoder)


def figures(shown: PageContext) -> "tuple[View, ...]":
    """The figures for print of what the page shows: an alignment, where its attention is chosen."""
    return ("alignment",) if shown.group.cross and translation.fits(shown.captured) else ()


def fitting(shown: PageContext) -> None:
    """Draw every view that fits, or say that there is none.

    Of a capture without its model that is the alignment: the other views read the model's answer.
    """
    if shown.captured.loaded is None:
        if translation.fits(shown.captured):
            translation.show(shown)
        return
    views = [view for view in VIEWS if view.fits(shown.captured)]
    for view in views:
        view.show(shown)
    if not views:
        st.info(text(shown.lang, "output.nothing"))
