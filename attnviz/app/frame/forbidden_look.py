"""A look that is forbidden, in words; a line where a room does not apply it.

In: what is shown, and the view. Out: the name of the look; a caption with the way to Change, where
it is applied, as long as its cell is chosen.
"""

import streamlit as st

from attnviz.app.session import address, address_bar, current, messages, routes, widgets
from attnviz.app.session.fragment import fragment
from attnviz.i18n import text
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.axes import token_axes
from attnviz.types import Site

FRAGMENT = "forbidden"


def name(shown: PageContext, site: Site, query: int, key: int) -> str:
    """The look of a head in words; raises `IndexError` for a cell that the text does not have."""
    queries, keys = token_axes(shown)
    row, word = queries.labels[query].strip(), keys.labels[key].strip()
    return text(shown.lang, "word_shares.cell", head=str(site), query=row, word=word)


def say_not_applied(shown: PageContext) -> None:
    """Say that a look is forbidden and not here; another choice allows the look again."""
    if not (address_bar.is_embedded() or shown.group.uneven):
        widgets.rerun_too(FRAGMENT)
        _line(shown)


@fragment(FRAGMENT)
def _line(shown: PageContext) -> None:
    view, lang, extent = current.view(), shown.lang, shown.size.extent
    place = view.place
    (layer, head), query, key = place.layer_and_head, place.query, place.key
    if not view.inside.at(place).forbid or query is None or key is None:
        return
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
