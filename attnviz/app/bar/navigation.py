"""The bar at the top of every page: name, rooms, the faces of a room, three menus.

In: the pages, and the one that is shown. Out: links with the whole view in their addresses, in one
fragment; the menus of the model and of the app; a place for the menu Share, which is filled when
what can be shared is known. `bar.css` gives all of it a fixed height before anything is drawn. The
browser keeps where the visitor is for the next visit, validated like any address; a place in a
class is not kept: it belongs to one hour.
"""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import StreamlitPage

from attnviz.app.bar import menus, palette
from attnviz.app.host.draw import draw
from attnviz.app.session import address, address_bar, current, openings, routes, store, widgets
from attnviz.app.session.fragment import fragment
from attnviz.app.session.view import Seat
from attnviz.i18n import Language, text
from attnviz.pictures import resume
from attnviz.pictures.resume import ResumeView
from attnviz.pictures.shared.pages import Page

NAVIGATION = "navigation"
RECALL = "recall"
SHARE = "share"  # the empty place of the menu Share in this run


def show(lang: Language, pages: Mapping[Page, StreamlitPage], page: Page) -> None:
    """Draw the bar of a page."""
    with st.container(key=widgets.key("bar"), gap=None):
        navigation(lang, pages, page)
        with st.container(key=widgets.key("bar.menus"), horizontal=True, gap=None):
            with st.container(key=widgets.key("bar.model"), width="content"):
                menus.model(lang, page)
            store.put(SHARE, st.container(key=widgets.key("bar.share"), width="content"))
            with st.container(key=widgets.key("bar.more"), width="content"):
                menus.more(lang, page)
        with st.container(key=widgets.key("bar.palette"), width="content"):
            palette.show(lang)


def share_place() -> DeltaGenerator | None:
    """The place of the menu Share, once in a run; None where it is filled or there is no bar."""
    place: DeltaGenerator | None = store.pop(SHARE, None)
    return place


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
        _keep_visit(shown)


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


def _keep_visit(page: Page) -> None:
    """Have the browser keep this page and the view; on the start page, offer what it kept."""
    if current.view().classroom != Seat():
        return
    on_start = page == routes.DEFAULT
    query = urlencode(address_bar.parameters(with_view=not on_start))
    view, on = ResumeView(page, query, on_start), {"resume": _go_back_to}
    draw(resume.CANVAS, view, RECALL, current.language(), on, remounts=False)


def _go_back_to(sent: object) -> None:
    """Open the page and the view that the browser kept."""
    left = resume.parse(sent)
    if left is None or left.page == routes.DEFAULT:
        return
    address_bar.adopt_query(dict(parse_qsl(left.query)))
    st.switch_page(routes.file(left.page), query_params=address.params(current.view()))
