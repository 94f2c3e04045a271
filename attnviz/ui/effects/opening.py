"""The way from an effect to the head that has it: callbacks that open another page.

In: the key of a component and what is shown. Out: a callback; a name that no head of the model has
opens nothing.
"""

from collections.abc import Callable, Mapping

import streamlit as st

from attnviz.components.pages import Page
from attnviz.components.selection import parse_open
from attnviz.ui.session import address, current, routes, widgets
from attnviz.views.captured import Shown
from attnviz.views.group_size import size_of
from attnviz.views.switchboard import prefix


def open_from_canvas(key: str, shown: Shown) -> Callable[[], None]:
    """A callback of a canvas: it goes to the page of the head that was opened, at its cell."""

    def open_page() -> None:
        sent = widgets.component_value(key, "open")
        name = sent.get("name") if isinstance(sent, Mapping) else None
        for group in shown.captured.groups:
            request = parse_open(sent, size_of(group).extent)
            if request and name == f"{prefix(group)}L{request.layer}.H{request.head}":
                current.update(stack=group.stack, kind=group.kind)
                current.take_opened(request)
                _go_to(request.page)

    return open_page


def open_from_table(key: str, shown: Shown) -> Callable[[], None]:
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
                    _go_to("head")

    return open_page


def _go_to(page: Page) -> None:
    st.switch_page(routes.file(page), query_params=address.params(current.view()))
