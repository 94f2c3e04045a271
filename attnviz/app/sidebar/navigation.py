"""Links to the pages in their groups, each with the whole view in its address.

In: the pages of the app. Out: links, in one fragment, and where the visitor is, for the next visit.
"""

from collections.abc import Mapping

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from attnviz.app.session import address, address_bar, current, openings, routes, widgets
from attnviz.app.session.fragment import fragment
from attnviz.app.sidebar import recall
from attnviz.i18n import Language, text
from attnviz.pictures.shared.pages import Page

NAVIGATION = "navigation"


@fragment(NAVIGATION)
def navigation(lang: Language, pages: Mapping[Page, StreamlitPage], shown: Page) -> None:
    """Links to the pages that carry the whole view, so that a page opens with its address.

    When a component commits a selection, only these links are made anew. Components know by them
    that the selection has arrived (shared/selection.js). The start page shows no view.
    """
    with st.container(key=widgets.key("pages"), gap="xsmall"):
        for group, names in routes.GROUPS.items():
            if names != (routes.DEFAULT,):
                st.caption(text(lang, f"navigation.{group}"))
            for name in names:
                with st.container(key=widgets.key(f"page.{name}")):
                    st.page_link(
                        pages[name],
                        query_params=_parameters(name),
                        width="stretch",
                    )
    recall.keep_visit(shown)


def _parameters(page: Page) -> dict[str, str]:
    """The parameters of the page; those that it had to add itself would be a step for Back."""
    if page in routes.WITHOUT_MODEL:
        return address_bar.parameters(with_view=page != routes.DEFAULT)
    return address.params(openings.opened(current.view()))


def renew(*fragments: str) -> None:
    """After a widget of a fragment has changed the view: the address and the links have it, too.

    These `fragments` run again. A component writes the address itself, a widget cannot.
    """
    address_bar.write()
    if widgets.only_a_fragment_runs():
        st.rerun([*fragments, NAVIGATION])
