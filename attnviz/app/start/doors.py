"""Four doors of the start page: explore, take a head apart, learn, teach.

In: a language. Out: links to pages, each with a sentence on what is behind it. A link has all
that its page will have in its address: what the page added itself would be one more step for Back.
"""

import streamlit as st

from attnviz.app.session import address, current, openings, routes, widgets
from attnviz.i18n import Language, text
from attnviz.pictures.shared.pages import Page

DOORS: dict[str, Page] = {
    "explore": "overview",
    "apart": "steps",
    "learn": "learn",
    "teach": "learn",
}


def show(lang: Language) -> None:
    """The doors beside each other, or below each other where the page is narrow."""
    view = current.view()
    with st.container(key=widgets.key("doors"), horizontal=True):
        for name, page in DOORS.items():
            with st.container(border=True, key=widgets.key(f"door.{name}")):
                st.page_link(
                    str(routes.file(page)),
                    label=f"**{text(lang, f'start.{name}_title')}**",
                    query_params=address.params(
                        view if page in routes.WITHOUT_MODEL else openings.opened(view)
                    ),
                )
                st.caption(text(lang, f"start.{name}_text"))
