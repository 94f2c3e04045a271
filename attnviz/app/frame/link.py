"""The link to a view, as a text to copy and as a QR code for the phones of a class.

In: a language and the view. Out: the link with what it does not carry.
"""

import io
from urllib.parse import urlencode, urlsplit

import segno
import streamlit as st

from attnviz.app.session import address_bar, current, model_images
from attnviz.i18n import Language, text

MAX_PROXY_CHARS = 8000  # many proxies refuse a longer request line
MAX_QR_BYTES = 1000  # a code with more has cells that a phone cannot tell apart
QR_PX, MODULE_PX = 320, 6
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


def show(lang: Language) -> None:
    """The link, its code, and notes on what it does not carry."""
    link = f"{st.context.url or ''}?{urlencode(address_bar.of_page())}"
    st.caption(text(lang, "take.link"))
    st.code(link, language=None, wrap_lines=True)
    for note in _notes(link):
        st.caption(text(lang, f"take.{note}"))
    with st.expander(text(lang, "take.qr")):
        if len(link.encode("utf-8")) > MAX_QR_BYTES:
            st.caption(text(lang, "take.qr_long"))
        else:
            st.image(qr_code(link), width=QR_PX, alt=text(lang, "take.qr"))


def qr_code(link: str) -> str:
    """A QR code as SVG, dark on white in either theme, with the quiet zone of the standard.

    It is drawn at any size that a style sheet gives it, at six pixels a module without one.
    """
    drawing, code = io.BytesIO(), segno.make(link, micro=False)
    code.save(drawing, kind="svg", scale=MODULE_PX, light="#fff", xmldecl=False)
    side = code.symbol_size(MODULE_PX)[0]
    return (
        drawing.getvalue().decode("utf-8").replace("<svg ", f'<svg viewBox="0 0 {side} {side}" ', 1)
    )


def qr_rows(link: str) -> tuple[str, ...]:
    """A QR code as rows of 0 and 1, 1 for dark, with the quiet zone of the standard."""
    rows = segno.make(link, micro=False).matrix_iter(border=4)
    return tuple("".join("1" if cell else "0" for cell in row) for row in rows)


def _notes(link: str) -> list[str]:
    """The names of the texts on what the link does not do."""
    source = current.view().input
    uploaded = source.file or source.image == model_images.OWN or source.sound == "own"
    notes = {
        "link_here": urlsplit(link).hostname in THIS_MACHINE,
        "link_long": len(link) > MAX_PROXY_CHARS,
        "link_uploads": uploaded and not source.capture,
        "link_capture": bool(source.capture),
    }
    return [name for name, applies in notes.items() if applies]
