"""What a model says, one view for each sort of output: the page Output shows those that fit.

In: a language and a `Captured`. Out: what is on the page between its title and the verification.
A view is a module here with `fits(captured)` and `show(lang, captured)`; the numbers come from
`attnviz.outputs`, pictures from components.
"""

from typing import Protocol, runtime_checkable

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.ui.outputs import classes, decoder, model_card, picture, similarity, translation
from attnviz.views.captured import Captured


@runtime_checkable
class OutputView(Protocol):
    """One way to show what a model says."""

    def fits(self, captured: Captured) -> bool:
        """Whether this model says that sort of thing."""

    def show(self, lang: Language, captured: Captured) -> None:
        """Draw it."""


VIEWS: tuple[OutputView, ...] = (classes, picture, translation, similarity, decoder)


def show(lang: Language, captured: Captured) -> None:
    """Draw what the model says, and its card."""
    said(lang, captured)
    model_card.show(lang, captured.name)


def said(lang: Language, captured: Captured) -> None:
    """Draw every view that fits, or say that there is none."""
    fitting = [view for view in VIEWS if view.fits(captured)]
    for view in fitting:
        view.show(lang, captured)
    if not fitting:
        st.info(text(lang, "output.nothing"))
