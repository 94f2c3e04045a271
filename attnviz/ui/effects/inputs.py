"""The model's input in the current view, as a request of the library.

In: what is shown and the view. Out: the `Request` that effects and attributions run again, or None
where something is missing that the visitor has to give.
"""

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.i18n import text
from attnviz.ui.outputs.similarity import OTHERS
from attnviz.ui.server import captures, sources
from attnviz.ui.session import current, sounds, text_files, uploads, view_request
from attnviz.ui.session.labels import READS_PICTURES
from attnviz.views.app_capture import PageContext

if TYPE_CHECKING:
    from attnviz.capture.request import Request


def of_shown(shown: PageContext) -> "Request | None":
    """The request of the first text, picture or sound, without what was generated after it.

    None where a sound has no transcript, and for a capture that is shown without its model.
    """
    from attnviz.capture.request import Request

    if shown.captured.loaded is None:
        return None
    view, card = current.view(), shown.captured.model.card
    if card.kind == "module":
        return Request.of()
    typed = text_files.input_text() or ""
    if card.kind in READS_PICTURES:
        image = uploads.picture()
        words = typed if card.kind == "text-image" else None
        return Request.of(words, image=image, cut=words is not None and view.input.cut)
    if card.kind == "speech":
        target = view.input.target.strip()
        sound = sounds.named(view.input.sound)
        return Request.of(sound=sound, target=target) if target and sound else None
    chat = view_request.is_message(card)
    return Request.of(typed, target=_target(shown, typed), cut=view.input.cut, chat=chat)


def others(shown: PageContext) -> tuple[str, ...]:
    """The sentences that an encoder's vector is compared with."""
    return OTHERS[:3] if shown.captured.model.kind == "encoder" else ()


def of_whole(shown: PageContext) -> "Request | None":
    """As `of_shown`; None, and a line that says so, for what cannot be run again or is too long."""
    request = of_shown(shown)
    if request is None or not shown.size.whole:
        st.info(text(shown.lang, "inside.not_here"))
        return None
    return request


def _target(shown: PageContext, typed: str) -> str | None:
    """The target of an encoder-decoder: the view's, or what the model answers."""
    if shown.captured.model.kind != "encoder-decoder":
        return None
    view = current.view()
    target = view.input.target
    if target.strip():
        return target
    return captures.answer(sources.source(view.model), typed, view.input.cut)
