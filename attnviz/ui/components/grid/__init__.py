"""Overview grid: every head of a model as a small heatmap, the one under the pointer enlarged.

In: a `HeadsView` and translated strings, packed once by `pack_grid` (cache the bytes: equal bytes
are not sent again). Out of `show_grid`: a committed `Selection` when pointer or focus left the
component with another head chosen, an `OpenRequest` when a head was clicked, either validated.
Pointing at heads and moving the cursor cost no message to the server.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.ui.components.bundle import script, stylesheet
from attnviz.ui.components.heads import HeadsView, pack_heads
from attnviz.ui.components.selection import (
    ComponentResult,
    Extent,
    parse_open,
    parse_selection,
)

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

NAME = "attnviz.grid"
STRING_KEYS: tuple[str, ...] = (
    "shared.query_axis",
    "shared.key_axis",
    "shared.scale_sqrt",
    "shared.colour_bar",
    "shared.heads",
    "shared.open_steps",
    "grid.canvas",
    "grid.tokens",
    "grid.hint",
    "grid.preview",
    "grid.open_head",
    "grid.status",
    "grid.strongest",
    "grid.looks",
    "grid.weights_note",
)


def pack_grid(view: HeadsView, strings: Mapping[str, str]) -> bytes:
    """The buffer of the overview: one byte for each weight."""
    return pack_heads(view, strings, bits=8)


def show_grid(
    data: bytes,
    extent: Extent,
    key: str = "grid",
    on_selection: Callable[[], None] | None = None,
) -> ComponentResult:
    """Mounts the grid; what came back from the browser, None for nothing and for nonsense."""
    result = _renderer()(
        data=data,
        key=key,
        on_selection_change=on_selection or _nothing,
        on_open_change=_nothing,
    )
    return ComponentResult(
        selection=parse_selection(result.get("selection"), extent),
        open=parse_open(result.get("open"), extent),
    )


@cache
def _renderer() -> "ComponentRenderer":
    return st.components.v2.component(NAME, js=script("grid"), css=stylesheet("grid"))


def _nothing() -> None:
    """Streamlit keeps only what has a callback; the value is read from the result."""
