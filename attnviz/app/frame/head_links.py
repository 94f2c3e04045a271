"""Callbacks that open a head whose effect is shown.

In: the key of a component and what is shown. Out: a callback; a name that no head of the model has
opens nothing.
"""

from collections.abc import Callable, Mapping

from attnviz.app.frame.attention_choice import GroupName, group_name
from attnviz.app.session import current, widgets
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.shared.selection import parse_open
from attnviz.pictures.switches.fill import prefix


def open_from_canvas(key: str, shown: PageContext) -> Callable[[], None]:
    """A callback of a canvas: it goes to the head that was opened, at its cell."""
    groups = _groups(shown)

    def open_page() -> None:
        sent = widgets.component_value(key, "open")
        name = sent.get("name") if isinstance(sent, Mapping) else None
        for before, group in groups:
            request = parse_open(sent, group.extent)
            if request and name == f"{before}L{request.layer}.H{request.head}":
                current.open_attention(group.stack, group.kind)
                current.take_opened(request)
                current.go(request.page)

    return open_page


def open_from_table(key: str, shown: PageContext) -> Callable[[], None]:
    """A callback of a table whose cells open heads: it goes to the head on Look."""
    groups = _groups(shown)

    def open_page() -> None:
        name = widgets.component_value(key, "table")
        for before, group in groups:
            for layer in range(group.extent.n_layers):
                count = group.extent.last_head(layer) + 1
                heads = [f"{before}L{layer}.H{head}" for head in range(count)]
                if name in heads:
                    head = heads.index(str(name))
                    current.open_head(layer, head, group.stack, group.kind)
                    current.go("head")

    return open_page


def _groups(shown: PageContext) -> list[tuple[str, GroupName]]:
    """The prefix of each group's heads, and the group's name; a callback must hold no capture."""
    return [(prefix(group), group_name(group)) for group in shown.captured.groups]
