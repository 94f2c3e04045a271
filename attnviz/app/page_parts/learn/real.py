"""A real model's head on a card, drawn as on the page Overview, Head or Output.

In: a `RealHead`. Out: the view changed to it when the card opens or names another head, then the
picture of that page. A head that the visitor switches to stays.
"""

import streamlit as st

from attnviz.app.frame import capture_of_view, fragments, frame
from attnviz.app.page_parts import output
from attnviz.app.page_parts.learn import links
from attnviz.app.session import address, current, store
from attnviz.i18n import Language
from attnviz.teach.lessons.cards.card import RealHead

SHOWN = "learn.real"


def show(lang: Language, real: RealHead) -> None:
    """Draw a real head."""
    if _has_changed(real):
        links.follow(_parameters(real))
        st.rerun()  # the component reads the address, which is written before a page is drawn
    shown = capture_of_view.shown(lang)
    if shown is None:
        return
    if real.shown == "overview":
        fragments.grid(shown)
    elif real.shown == "head":
        fragments.head(shown)
    else:
        output.fitting(shown)
    frame.verification(shown)


def _parameters(real: RealHead) -> dict[str, str | int]:
    """The address parameters of what the card shows."""
    text = {"text": real.text} if real.text else {}
    place = {"layer": real.layer, "head": real.head}
    return {"model": real.model, **text, **place, **real.view}


def _has_changed(real: RealHead) -> bool:
    """True if the view shows something else than this card; a link may have brought its head."""
    wanted, view, before = _parameters(real), current.view(), store.get(SHOWN)
    store.put(SHOWN, wanted)
    inputs = {name: value for name, value in wanted.items() if name not in address.INDICES}
    same = all(
        str(address.PARAMETERS[name].value(view)) == str(value) for name, value in inputs.items()
    )
    opened_by_link = before is None and view.place.layer is not None
    return not same or not (before == wanted or opened_by_link)
