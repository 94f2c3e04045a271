"""The line under a picture that stands alone in a frame, with the way to the whole app.

In: what is shown. Out: the model, how far its numbers are from ours, and a link that opens the same
view in a tab of its own, where files can be uploaded: a browser sends no upload from a frame of
another site. The link is made anew when a head or a cell is chosen.
"""

from urllib.parse import urlencode

import streamlit as st

from attnviz.app.bar.navigation import NAVIGATION
from attnviz.app.session import address, current, embedding, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.i18n import Language, text
from attnviz.i18n.numbers import number
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.titles import model_title


def ends(shown: PageContext) -> bool:
    """True if the page ends with its picture, after the line under it."""
    if not embedding.is_embedded():
        return False
    accuracy = shown.captured.accuracy
    checked = text(
        shown.lang,
        "verify.ok" if accuracy.ok else "verify.bad",
        error=number(shown.lang, accuracy.error, ".1e"),
        tolerance=number(shown.lang, accuracy.tolerance, ".0e"),
    )
    title = messages.plain(model_title(shown.lang, shown.captured.name))
    _line(shown.lang, f"{title} · {checked}")
    return True


def line_without_model(lang: Language) -> None:
    """The line under a page that shows no model: the link alone; nothing outside of a frame."""
    if embedding.is_embedded():
        _line(lang, "")


@fragment(NAVIGATION)
def _line(lang: Language, words: str) -> None:
    parameters = urlencode(address.params(current.view()))
    row = st.container(
        key=widgets.key("pages"),
        horizontal=True,
        horizontal_alignment="distribute",
        vertical_alignment="center",
    )
    row.caption(words, width="stretch")
    row.link_button(text(lang, "embed.open"), f"?{parameters}", type="tertiary")
