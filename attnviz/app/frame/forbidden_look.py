"""A look that is forbidden, in words; lines where a room does not apply it or no longer does.

In: what is shown, and the view. Out: the name of the look; a caption with the way to Change, where
it is applied, as long as its cell is chosen.
"""

import streamlit as st

from attnviz.app.session import address, address_bar, current, messages, routes, store, widgets
from attnviz.app.session.fragment import fragment
from attnviz.i18n import text
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.axes import row_labels, token_axes, word_at
from attnviz.types import Site

FRAGMENT = "forbidden"
LAST = "effects.forbidden"  # the capture and the cell of the look that was forbidden last


def name(shown: PageContext, site: Site, query: int, key: int) -> str:
    """The look of a head in words; raises `IndexError` for a cell that the text does not have."""
    queries, keys = token_axes(shown)
    row = word_at(shown.lang, row_labels(shown, queries), query)
    word = word_at(shown.lang, keys.labels, key)
    return text(shown.lang, "word_shares.cell", head=str(site), query=row, word=word)


def cell() -> tuple[int, int] | None:
    """The query and the key of the look that is forbidden, as long as it is the chosen one."""
    place = current.view().place
    if place.query is None or place.key is None or not current.view().inside.at(place).forbid:
        return None
    return place.query, place.key


def dropped(shown: PageContext) -> str:
    """A sentence on the look that is allowed again because another cell was chosen; "" for none."""
    place, forbidden = current.view().place, cell()
    if forbidden is not None:
        store.put(LAST, (shown.key, forbidden))
    last: tuple[str, tuple[int, int]] | None = store.get(LAST)
    if last is None or last[0] != shown.key or last[1] == (place.query, place.key):
        if forbidden is None:
            store.pop(LAST, None)
        return ""
    queries, keys = token_axes(shown)
    row = word_at(shown.lang, row_labels(shown, queries), last[1][0])
    column = word_at(shown.lang, keys.labels, last[1][1])
    return text(shown.lang, "effects.look_dropped", row=row, column=column)


def say_not_applied(shown: PageContext) -> None:
    """Say that a look is forbidden and not here; another choice allows the look again."""
    if not (address_bar.is_embedded() or shown.group.uneven):
        widgets.rerun_too(FRAGMENT)
        _line(shown)


@fragment(FRAGMENT)
def _line(shown: PageContext) -> None:
    view, lang, extent = current.view(), shown.lang, shown.size.extent
    (layer, head), forbidden = view.place.layer_and_head, cell()
    if forbidden is None:
        return
    query, key = forbidden
    if query >= extent.n_query or key >= extent.n_key or layer >= extent.n_layers:
        return
    site = Site(layer, head, shown.group.kind, shown.group.stack)
    look = messages.plain(name(shown, site, query, key))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(text(lang, "forbidden.not_applied", look=look), width="content")
        st.page_link(
            routes.file("switches"),
            label=text(lang, "component.stage.to_change"),
            query_params=address.params(view),
        )
