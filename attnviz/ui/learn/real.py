"""A real model's head on a card, with all that the page of that name can do.

In: a `Real`. Out: the view changed to it when the card opens or asks for another one, then the
picture that Overview, Head or Output draws of that view. Heads that a visitor switches to stay.
"""

import streamlit as st

from attnviz.i18n import Language
from attnviz.lessons.cards.card import RealHead
from attnviz.ui import outputs
from attnviz.ui.learn.look import look_at
from attnviz.ui.page import capture_of_view, fragments, frame
from attnviz.ui.session import state
from attnviz.ui.session.view import INDICES
from attnviz.views.captured import Shown
from attnviz.views.groups import chosen

SHOWN = "learn.real"


def show(lang: Language, real: RealHead) -> None:
    """Draw a real head."""
    if _changed(real):
        look_at(_asked(real))
        st.rerun()  # the component reads the address, which is written before a page is drawn
    captured = capture_of_view.captured(lang)
    if captured is None:
        return
    view = state.current()
    group = chosen(captured.groups, view.stack, view.kind)
    if real.shown == "overview":
        fragments.grid(Shown(lang, captured, group))
    elif real.shown == "head":
        fragments.head(Shown(lang, captured, group))
    else:
        outputs.said(lang, captured)
    frame.verification(lang, captured)


def _asked(real: RealHead) -> dict[str, str | int]:
    text = {"text": real.text} if real.text else {}
    place = {"layer": real.layer, "head": real.head}
    return {"model": real.model, **text, **place, **real.view}


def _changed(real: RealHead) -> bool:
    """Whether the view shows something else than this card; a link may have brought its head."""
    asked, view, before = _asked(real), state.current(), state.kept(SHOWN)
    state.keep(SHOWN, asked)
    inputs = {name: of for name, of in asked.items() if name not in INDICES}
    same = all(str(getattr(view, name)) == str(of) for name, of in inputs.items())
    opened_by_link = before is None and view.layer is not None
    return not same or not (before == asked or opened_by_link)
