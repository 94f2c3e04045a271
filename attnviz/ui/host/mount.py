"""Mount a component and read what the browser sent back.

In: a component's name ("attnviz.grid" lives in the folder `grid`) and its packed data. Out: what
one run brought back, validated. Each component is registered with Streamlit once per process.
"""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.components.selection import (
    ComponentResult,
    Extent,
    parse_open,
    parse_selection,
)
from attnviz.types import ignore
from attnviz.ui.host.script import stub

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

PREFIX = "attnviz."


def mount(
    name: str,
    data: bytes,
    extent: Extent,
    key: str,
    on_selection: Callable[[], None] = ignore,
    on_open: Callable[[], None] = ignore,
    on_edit: Callable[[], None] = ignore,
) -> ComponentResult:
    """Mounts the component; what came back from the browser, None for nothing and for nonsense.

    Each is an event of one run: `on_selection` is called when one was committed, `on_open` for a
    click that opens another page, `on_edit` for a number that was changed.
    """
    result = renderer(name)(
        data=data,
        key=key,
        on_selection_change=on_selection,
        on_open_change=on_open,
        on_edit_change=on_edit,
    )
    return ComponentResult(
        selection=parse_selection(result.get("selection"), extent),
        open=parse_open(result.get("open"), extent),
    )


@cache
def renderer(name: str) -> "ComponentRenderer":
    """The function that mounts a component which sends back something else, or nothing."""
    return st.components.v2.component(name, js=stub(name.removeprefix(PREFIX)))
