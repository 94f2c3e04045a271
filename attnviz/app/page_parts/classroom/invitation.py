"""The way into a class: its code, its link, and the link as a QR code.

In: the room of the view and the address of this page. Out: what the teacher hands out, what the
wall shows, and the address of the page for the wall.
"""

from urllib.parse import urlencode, urlsplit

import streamlit as st

from attnviz.app.frame.link import THIS_MACHINE, qr_code
from attnviz.app.session import current
from attnviz.i18n import Language, text

PANEL_QR_PX = 190


def link(**further: str) -> str:
    """The address at which followers join: this page's server, and the room alone."""
    return f"{server()}/learn?{urlencode({'room': current.view().classroom.room, **further})}"


def server() -> str:
    """The address of the app, as this browser reaches it."""
    here = urlsplit(st.context.url or "")
    folder = here.path.rsplit("/learn", 1)[0] if "/learn" in here.path else ""
    return f"{here.scheme}://{here.netloc}{folder}" if here.netloc else folder


def for_teacher(lang: Language, *, begins: bool) -> None:
    """Code, link and QR code; where a class `begins` also a note if nobody else reaches the app."""
    words, picture = st.columns([3, 1])
    with words:
        st.caption(text(lang, "class.invite"))
        st.title(current.view().classroom.room, anchor=False)
        st.code(link(), language=None, wrap_lines=True)
        if begins and urlsplit(link()).hostname in THIS_MACHINE:
            st.markdown(text(lang, "class.local"))
        st.caption(text(lang, "class.yours"))
    with picture:
        st.image(qr_code(link()), width=PANEL_QR_PX, alt=text(lang, "take.qr"))
