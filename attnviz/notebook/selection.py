"""The selection of a live widget: a view, a head, a query and a key.

In: a head that Python names, or the plain object that the page sends. Out: a `PageSelection` that
the capture has, or a `BadInput`; both directions pass the same check.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnviz.errors import BadInput, bad_argument, bad_kind, require_index
from attnviz.files.saved_page.first_view import VIEWS, PageView
from attnviz.files.saved_page.views import require_heads
from attnviz.pictures.group.groups import Group, size_of
from attnviz.types import HeadId, Kind, Stack

NUMBERS = ("group", "layer", "head", "query", "key")


@dataclass(frozen=True)
class PageSelection:
    """A view of a page, a head, and the positions of a query and a key; None if none is pinned.

    `kind` and `stack` name the attention where a capture has several.
    """

    head: HeadId
    query: int | None = None
    key: int | None = None
    view: PageView = "overview"
    kind: Kind = "self"
    stack: Stack | None = None


def require_selection(selection: PageSelection, groups: Sequence[Group]) -> Group:
    """The group of the selected head; `BadInput` for what the capture does not have."""
    group = _group(selection, groups)
    call = group.call(selection.head.layer)
    require_index("head", selection.head.head, call.n_heads)
    require_heads((group,), (selection.head,))
    if selection.query is not None:
        require_index("query", selection.query, call.n_query)
    if selection.key is not None:
        require_index("key", selection.key, call.n_key)
        if selection.query is None:
            raise _bad("query", None, "a query beside the key")
    if selection.view not in VIEWS:
        raise _bad("view", selection.view, ", ".join(VIEWS))
    return group


def to_page(selection: PageSelection, groups: Sequence[Group]) -> dict[str, Any]:
    """The object that the page reads."""
    return {
        "layer": selection.head.layer,
        "head": selection.head.head,
        "query": selection.query,
        "key": selection.key,
        "view": selection.view,
        "group": list(groups).index(_group(selection, groups)),
    }


def from_page(sent: object, groups: Sequence[Group]) -> PageSelection:
    """The selection that the page sent, made to fit as its pictures make it fit.

    After a change to another attention the page may still name a head of the former one. Raises
    `BadInput` for what no page sends.
    """
    if not isinstance(sent, Mapping):
        raise _bad("selection", sent, "an object")
    for name in NUMBERS:
        number, optional = sent.get(name), name in ("query", "key")
        if not (type(number) is int or (optional and number is None)):
            raise _bad(name, number, "a whole number")
    group = groups[require_index("group", sent["group"], len(groups))]
    extent = size_of(group).extent
    layer, head = extent.nearest_head(_nearest(sent["layer"], group.n_layers), sent["head"])
    call = group.call(layer)
    query = _present(sent.get("query"), call.n_query)
    selection = PageSelection(
        head=HeadId(layer, _nearest(head, call.n_heads)),
        query=query,
        key=None if query is None else _present(sent.get("key"), call.n_key),
        view=sent.get("view", "overview"),
        kind=group.kind,
        stack=group.stack,
    )
    require_selection(selection, groups)
    return selection


def _nearest(index: int, count: int) -> int:
    return max(0, min(count - 1, index))


def _present(index: int | None, count: int) -> int | None:
    return index if index is not None and 0 <= index < count else None


def _group(selection: PageSelection, groups: Sequence[Group]) -> Group:
    for group in groups:
        if (group.kind, group.stack) == (selection.kind, selection.stack):
            return group
    present = ((group.kind, group.stack) for group in groups)
    raise bad_kind(selection.kind, selection.stack, present)


def _bad(name: str, found: object, allowed: str) -> BadInput:
    return bad_argument(
        f"{name}={found!r} cannot be selected; give {allowed}",
        name=name,
        found=repr(found),
        allowed=allowed,
    )
