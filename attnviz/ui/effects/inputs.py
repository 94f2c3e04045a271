"""The model's input in the current view, as a request of the library.

In: what is shown and the view. Out: the `Request` that effects and attributions run again, or None
where something is missing that the visitor has to give.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.ui.outputs.similarity import OTHERS
from attnviz.ui.server import cache, sources
from attnviz.ui.session import (
    address,
    current,
    routes,
    sounds,
    text_files,
    uploads,
    view_request,
    widgets,
)
from attnviz.ui.session.labels import READS_PICTURES
from attnviz.views.captured import Shown
from attnviz.views.switchboard import prefix

if TYPE_CHECKING:
    from attnviz.capture.request import Request


def of_shown(shown: Shown) -> "Request | None":
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


def others(shown: Shown) -> tuple[str, ...]:
    """The sentences that an encoder's vector is compared with."""
    return OTHERS[:3] if shown.captured.model.kind == "encoder" else ()


def open_head(key: str, shown: Shown) -> Callable[[], None]:
    """A callback of a table whose cells open heads: it goes to the page Head."""

    def open_page() -> None:
        name = widgets.component_value(key, "ledger")
        for group in shown.captured.groups:
            for layer, call in enumerate(group.calls):
                heads = [f"{prefix(group)}L{layer}.H{head}" for head in range(call.n_heads)]
                if name in heads:
                    place = {"layer": layer, "head": heads.index(str(name))}
                    current.update(**{"stack": group.stack, "kind": group.kind, **place})
                    current.update(**current.NO_POSITION)
                    parameters = address.params(current.view())
                    st.switch_page(routes.file("head"), query_params=parameters)

    return open_page


def _target(shown: Shown, typed: str) -> str | None:
    """The target of an encoder-decoder: the view's, or what the model answers."""
    if shown.captured.model.kind != "encoder-decoder":
        return None
    view = current.view()
    target = view.input.target
    if target.strip():
        return target
    return cache.answer(sources.source(view.model), typed, view.input.cut)
