"""Links to the rooms and their faces, each with the whole view in its address.

In: the pages of the app. Out: links, in one fragment, and where the visitor is, for the next visit.
"""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from attnviz.app.bar import recall
from attnviz.app.session import address, address_bar, current, openings, routes, widgets
from attnviz.app.session.fragment import fragment
from attnviz.i18n import Language, text
from attnviz.pictures.shared.pages import Page

NAVIGATION = "navigation"


@fragment(NAVIGATION)
def navigation(lang: Language, pages: Mapping[Page, StreamlitPage], shown: Page) -> None:
    """Links to Start, to the rooms, and to the faces of the one shown; each carries the whole view.

    When a component commits a selection, only these links are made anew. Components know by them
    that the selection has arrived (shared/selection.js). The start page shows no view: its links
    lead to what its stage shows, and the link to it has the look that is forbidden. Streamlit does
    not say which page is shown: `host/bar.js` marks the links in `current_…`.
    """
    here = routes.room(shown)
    with st.container(key=widgets.key("bar.home"), width="content"):
        kept = address_bar.parameters(with_view=False) | openings.home()
        st.page_link(pages[routes.DEFAULT], label=text(lang, "app.name"), query_params=kept)
    with st.container(key=widgets.key("pages"), horizontal=True, gap=None):
        for room, faces in routes.ROOMS.items():
            if room != routes.DEFAULT:
                _link(pages[faces[0]], text(lang, f"room.{room}"), faces[0], room, shown)
    with st.container(key=widgets.key("faces"), horizontal=True, gap=None):
        if len(routes.ROOMS[here]) > 1:
            for face in routes.ROOMS[here]:
                _link(pages[face], text(lang, f"page.{face}.title"), face, face, shown)
        recall.keep_visit(shown)


def _link(place: StreamlitPage, label: str, page: Page, name: str, shown: Page) -> None:
    """A link to a page or room, in a container whose class says if it is the one that is shown."""
    state = "current" if name in (shown, routes.room(shown)) else "other"
    with st.container(key=widgets.key(f"{state}.{name}"), width="content"):
        st.page_link(place, label=label, query_params=_parameters(page, shown))


def _parameters(page: Page, shown: Page) -> dict[str, str]:
    """The parameters of the page; those that it had to add itself would be a step for Back.

    The room Compute opens on the row, whichever face was open.
    """
    if page in routes.WITHOUT_MODEL:
        return address_bar.parameters(with_view=page != routes.DEFAULT)
    view = current.view()
    if shown == routes.DEFAULT:
        view = openings.of_the_stage(view)
    drawing = replace(view.drawing, face="" if page == "steps" else view.drawing.face)
    closed = address_bar.CLOSED if page == "overview" and routes.room(shown) == "look" else {}
    return address.params(openings.opened(replace(view, drawing=drawing))) | closed


def renew(*fragments: str) -> None:
    """After a widget of a fragment has changed the view: the address and the links have it, too.

    These `fragments` run again. A component writes the address itself, a widget cannot.
    """
    address_bar.write()
    if widgets.only_a_fragment_runs():
        st.rerun([*fragments, NAVIGATION])
