"""Choices in a part of a page that are parameters of the view: switches, boxes, canvases.

In: what was chosen, and the fragments that depend on it. Out: the view with it; the address and the
links have it, too, and the fragments run again.
"""

import streamlit as st

from attnviz.app.bar.navigation import NAVIGATION
from attnviz.app.session import address, address_bar, current, widgets


def toggle(label: str, name: str, *fragments: str, tip: str | None = None) -> bool:
    """A switch for the flag `name` of the view, and if it is on; these `fragments` run again."""
    is_on = bool(address.PARAMETERS[name].value(current.view()))
    st.toggle(
        label,
        key=widgets.showing(name, is_on),
        help=tip,
        on_change=take_chosen,
        args=(name, name, *fragments),
    )
    return is_on


def take_chosen(name: str, widget: str, *fragments: str) -> None:
    """Take over what was chosen in a widget as the parameter `name` of the view, if it makes sense.

    A widget of a fragment calls it, and names the `fragments` that run again.
    """
    raw = widgets.value(widget)
    value, _ = address.checked(name, str(int(raw)) if isinstance(raw, bool) else raw)
    if value is not None:
        current.take({name: value})
        renew(*fragments)


def take_asked(name: str, *fragments: str) -> None:
    """Set the flag `name` of the view, as a button does; these `fragments` run again."""
    current.take({name: True})
    renew(*fragments)


def renew(*fragments: str) -> None:
    """After a widget of a fragment has changed the view: the address and the links have it, too.

    These `fragments` run again. A component writes the address itself, a widget cannot. A widget of
    the page before may still be heard after its fragment has gone with that page.
    """
    address_bar.write()
    renew_links(*fragments)


def renew_links(*fragments: str) -> None:
    """After a component has changed the view: the links have it, too, and `fragments` run again."""
    if widgets.only_a_fragment_runs():
        st.rerun([*filter(widgets.is_on_page, fragments), NAVIGATION])
