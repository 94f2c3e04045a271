"""Draws a canvas on the page.

In: a canvas, what it shows, the name of its element, and what is called for each event with what
the browser sent. Out: an element of the page. Each canvas is registered with Streamlit once per
process.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from attnviz.app.host.script import stub
from attnviz.app.server.shared import shared
from attnviz.app.session import widgets
from attnviz.i18n import Language
from attnviz.pictures.shared.canvas import Canvas, packed

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

MAX_KEPT = 16  # views; the largest, all heads on Head for 512 tokens, has 38 MB
View = TypeVar("View")
Events = Mapping[str, Callable[[object], None]]


def draw(
    canvas: Canvas[View],
    view: View | Callable[[], View],
    name: str,
    lang: Language,
    on: Events | None = None,
    kept: str = "",
    *,
    remounts: bool = True,
) -> None:
    """Draw a view in the element `name`, which mounts anew each time the address was read.

    One that shows nothing of the address need not be one that `remounts`. `on` has a callback for
    each event, which gets what the browser sent; Streamlit keeps no value of an event without one.

    `kept` names all that determines the view but for canvas and language: then `view` is a function
    that is called once, and its bytes are shared by all sessions.
    """
    if callable(view):
        assert kept, "a view that is made when it is needed is kept under a name"
        key_of_bytes = f"{canvas.name} {lang} {kept}"
        data = kept_bytes(key_of_bytes, lambda: packed(canvas, view(), lang))
    else:
        data = packed(canvas, view, lang)
    key = widgets.component_key(name, remounts=remounts)
    calls: dict[str, Any] = {
        f"on_{event}_change": partial(_hand_on, key, event, take)
        for event, take in (on or {}).items()
    }
    _renderer(canvas.element, canvas.name, canvas.mounts)(data=data, key=key, **calls)


@shared(most=MAX_KEPT)
def kept_bytes(key: str, _build: Callable[[], bytes]) -> bytes:
    """The bytes that `_build` makes; `key` names everything that determines them."""
    return _build()


def _hand_on(key: str, event: str, take: Callable[[object], None]) -> None:
    take(widgets.component_value(key, event))


@cache
def _renderer(element: str, name: str, mounts: tuple[str, ...]) -> "ComponentRenderer":
    """The function that mounts a canvas."""
    return st.components.v2.component(element, js=stub(name, mounts))
