"""Where a visitor left: kept in the browser, and offered on the start page.

In: the page that is shown. Out: a button to the view and the page of the last visit, validated like
any address. A place in a class is not kept: it belongs to one hour.
"""

from urllib.parse import parse_qsl, urlencode

import streamlit as st

from attnviz.app.host.draw import draw
from attnviz.app.session import address, address_bar, current, routes, store, widgets
from attnviz.app.session.view import Seat
from attnviz.pictures import resume
from attnviz.pictures.resume import ResumeView
from attnviz.pictures.shared.pages import Page

KEY = "recall"


def keep_visit(page: Page) -> None:
    """Have the browser keep this page and the view; on the start page, offer what it kept."""
    if current.view().classroom != Seat():
        return
    on_start = page == routes.DEFAULT
    query = urlencode(address_bar.parameters(with_view=not on_start))
    key = f"{store.PREFIX}component.{KEY}"
    on = {"resume": lambda: _go_back_to(key)}
    draw(resume.CANVAS, ResumeView(page, query, on_start), key, current.language(), on)


def _go_back_to(key: str) -> None:
    """Open the page and the view that the browser kept."""
    left = resume.parse(widgets.component_value(key, "resume"))
    if left is None or left.page == routes.DEFAULT:
        return
    address_bar.adopt_query(dict(parse_qsl(left.query)))
    st.switch_page(routes.file(left.page), query_params=address.params(current.view()))
