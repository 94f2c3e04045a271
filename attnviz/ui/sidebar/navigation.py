"""Links to the pages, each with the whole view in its address.

In: the pages of the app. Out: links, in one fragment.
"""

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from attnviz.ui.session import address, current, widgets

NAVIGATION = "navigation"


@st.fragment(key=NAVIGATION)
def navigation(pages: tuple[StreamlitPage, ...]) -> None:
    """Links to the pages that carry the whole view, so that a page opens with its address.

    When a component commits a selection, only these links are made anew. Components know by them
    that the selection has arrived (shared/selection.js).
    """
    parameters = address.params(current.view())
    with st.container(key=widgets.key("pages"), gap="xsmall"):
        for page in pages:
            st.page_link(page, query_params=parameters, width="stretch")
