"""The frame of a page: the heading above the component, the verification below it.

In: a page's name, or what is shown. Out: what is on the page before and after its component. Where
a picture stands alone in a frame of another site, the line under it has the model, how far its
numbers are from ours, and a link that opens the same view in a tab of its own, where files can be
uploaded: a browser sends no upload from such a frame. The link is made anew when a head or a cell
is chosen.
"""

from urllib.parse import urlencode

import streamlit as st

from attnviz.app.bar.navigation import NAVIGATION
from attnviz.app.session import address, address_bar, current, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.i18n import Language, joined, text
from attnviz.i18n.numbers import number
from attnviz.pictures import switches
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.titles import model_title
from attnviz.pictures.shared.pages import Door
from attnviz.teach.lessons.cards.symbols import with_formulas

MAX_REASON_CHARS = 300
MAX_HEADS_CHARS = 80


def open_page(name: Door, heading: str = "title", *, reads_alone: bool = False) -> Language:
    """Give a page its heading; the language to go on in.

    The bar says where the visitor is: the heading is for who hears the page, but for one that
    `reads_alone`, where it is seen, with the introduction. In a frame there is neither.
    """
    lang = current.language()
    if address_bar.is_embedded():
        return lang
    with st.container(key=widgets.key("top" if reads_alone else "heading"), gap="xsmall"):
        st.title(
            with_formulas(text(lang, f"page.{name}.{heading}")),
            anchor=None if reads_alone else False,
        )
        if reads_alone:
            st.markdown(with_formulas(text(lang, f"page.{name}.intro")))
    return lang


def verification(shown: PageContext, *, all_on: bool = True, can_edit: bool = False) -> None:
    """Say how far our numbers are from the model's own, and how that was measured.

    `all_on` is True if all heads are on here, whichever of them the Switchboard has off; where one
    `can_edit` numbers or masks, it is said that those of the recorded pass are meant.
    """
    from attnviz.attention.capture import NOT_KEPT

    off = switches.parse(current.view().switches.changes) if all_on else ()
    if off:
        heads = messages.shortened(
            joined(shown.lang, (switch.head for switch in off)), MAX_HEADS_CHARS
        )
        st.caption(text(shown.lang, "verify.switched", heads=heads))
    lang, accuracy = shown.lang, shown.captured.accuracy
    numbers = {
        "error": number(lang, accuracy.error, ".1e"),
        "tolerance": number(lang, accuracy.tolerance, ".0e"),
    }
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        if accuracy.ok:
            same = "verify.ok_recorded" if can_edit else "verify.ok"
            st.caption(text(lang, same, **numbers), width="stretch")
        else:
            st.error(text(lang, "verify.bad", **numbers))
        missing = [call for call in shown.captured.capture.missing if call.reason != NOT_KEPT]
        if missing:
            st.warning(text(lang, "verify.missing", count=len(missing)))
        with st.popover(text(lang, "verify.how")):
            for call in missing:
                st.text(messages.shortened(f"{call.module}: {call.reason}", MAX_REASON_CHARS))
            own_code = {
                group.own_code(layer)
                for group in shown.captured.groups
                for layer in range(group.n_layers)
            }
            if False in own_code:
                st.markdown(text(lang, "verify.explain"))
            if True in own_code:
                st.markdown(text(lang, "verify.explain_own_code"))


def ends(shown: PageContext) -> bool:
    """True if the page ends with its picture, after the line under it."""
    if not address_bar.is_embedded():
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
    if address_bar.is_embedded():
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
