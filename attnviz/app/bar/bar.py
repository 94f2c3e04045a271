"""The bar at the top of every page: name, rooms, the faces of a room, three menus.

In: the pages, and the one that is shown. Out: links with the whole view in their addresses, the
menus of the model and of the app, and a place for the menu Share, which is filled when what can be
shared is known. `bar.css` gives all of it a fixed height before anything is drawn.
"""

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import StreamlitPage

from attnviz.app.bar import menus, palette
from attnviz.app.bar.navigation import navigation
from attnviz.app.session import store, widgets
from attnviz.i18n import Language
from attnviz.pictures.shared.pages import Page

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
