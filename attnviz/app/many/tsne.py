"""The chosen head of Map by t-SNE: a button, the progress of its job, and the way back.

In: what is shown, the heads, and how to capture the texts of the map. Out: `Neighbours`, or None
where the plane is shown. A picture is drawn once for all visitors with the same text.
"""

from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.effects import measurement
from attnviz.app.many import heads
from attnviz.app.server.jobs import Job
from attnviz.app.session import current, store, widgets
from attnviz.errors import Cancelled
from attnviz.i18n import text
from attnviz.pictures.group.app_capture import PageContext
from attnviz.types import HeadId

if TYPE_CHECKING:
    from attnviz.attention.capture import Capture
    from attnviz.corpus.neighbours import Neighbours

CHOSEN = "tsne"  # the head that this visitor sees by t-SNE
Captures = Callable[[Job], "Sequence[Capture]"]


def chosen(
    shown: PageContext, of_model: Sequence[HeadId], captures: Captures, more: Sequence[str] = ()
) -> "Neighbours | None":
    """The head that the visitor asked for by t-SNE; None while it is drawn, and for none.

    `more` are the visitor's further texts among the captures.
    """
    head = store.get(CHOSEN)
    _buttons(shown, of_model, head)
    if head not in of_model:
        return None
    key = "\0".join([f"{shown.captured.key} {head}", *more])
    return measurement.result(shown.lang, "tsne", key, partial(_drawn, captures, head))


def _buttons(shown: PageContext, of_model: Sequence[HeadId], head: HeadId | None) -> None:
    lang, installed = shown.lang, find_spec("openTSNE") is not None
    with st.container(horizontal=True):
        st.button(
            text(lang, "tsne.draw"),
            key=widgets.key("tsne.draw"),
            on_click=_choose,
            args=(of_model,),
            disabled=not installed,
            help=text(lang, "tsne.help" if installed else "tsne.missing"),
        )
        if head in of_model:
            st.button(
                text(lang, "tsne.plane"),
                key=widgets.key("tsne.plane"),
                on_click=store.pop,
                args=(CHOSEN,),
            )


def _choose(of_model: Sequence[HeadId]) -> None:
    """Ask for the head that is chosen in the picture."""
    store.put(CHOSEN, heads.nearest(of_model, *current.view().place.layer_and_head))


def _drawn(captures: Captures, head: HeadId, job: Job) -> "Neighbours":
    from attnviz.corpus.neighbours import neighbours

    def report(fraction: float) -> None:
        if job.cancel.is_set():
            raise Cancelled("stopped on request; ask again for the picture", code="cancelled")
        job.report(fraction)

    return neighbours(captures(job), head, progress=report)
