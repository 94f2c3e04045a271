"""What surrounds every picture: title, plain words, waiting, notices, what was checked.

In: a language and a page's name. Out: what is on the page before and after its component; what went
wrong is said by `saying`.
"""

from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.i18n import Language, text
from attnviz.ui.session import state
from attnviz.views.captured import Captured

if TYPE_CHECKING:
    pass


def open_page(name: str) -> Language:
    """Show a page's title and its explanation; the language to go on in."""
    lang = state.language()
    with _row():
        st.title(text(lang, f"page.{name}.title"), width="stretch")
        with st.popover(text(lang, "explain.label")):
            st.markdown(text(lang, f"page.{name}.explain"))
    st.markdown(text(lang, f"page.{name}.intro"))
    return lang


def verification(lang: Language, found: Captured) -> None:
    """Say how far our numbers are from the model's own, and how that is known."""
    measured = {"error": f"{found.error:.1e}", "tolerance": f"{found.tolerance:.0e}"}
    with _row():
        if found.verified:
            st.caption(text(lang, "verify.ok", **measured), width="stretch")
        else:
            st.error(text(lang, "verify.bad", **measured))
        with st.popover(text(lang, "verify.how")):
            own = {of.own_code(layer) for of in found.groups for layer in range(of.n_layers)}
            if False in own:
                st.markdown(text(lang, "verify.explain"))
            if True in own:
                st.markdown(text(lang, "verify.explain_own_code"))


def _row() -> DeltaGenerator:
    """A row with its parts at both ends."""
    return st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    )
