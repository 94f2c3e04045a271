"""The effect of each head on the answer, told to the pictures of Look; or of one look of each.

In: what is shown. Out: a mounted canvas without a picture of its own (`pictures.effects`). The page
is drawn first: the heads are measured by a job after it. A model that may take long, or a server
that is busy, measures only when it is asked to. A look that is forbidden is cut in each head that
has it: the others are its control.
"""

from contextlib import nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.frame import forbidden_look, fragments, measurement, run_again
from attnviz.app.frame.choices import take_asked
from attnviz.app.host.draw import draw
from attnviz.app.server import answer_runs
from attnviz.app.server.answer_runs import Answering
from attnviz.app.session import current, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.errors import AttnVizError
from attnviz.i18n import text
from attnviz.pictures import effects as effects_picture
from attnviz.pictures.effects import CANVAS
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.switches import Off

if TYPE_CHECKING:
    from attnviz.capture.request import Request

FRAGMENT = fragments.ANSWERS["forbid"]
OFF: Off = "mean"
QUICK_MS = 4000.0  # processor time, for all heads


@fragment(FRAGMENT)
def of_heads(shown: PageContext) -> None:
    """Measure every head, if that is quick or was asked for; else a button that asks."""
    if shown.captured.loaded is None or not shown.size.all_at_once:
        return
    lang = shown.lang
    with messages.guard(lang):
        request, cell = run_again.of_shown(shown), forbidden_look.cell()
        if cell is not None and not shown.group.uneven:
            widgets.rerun_too(FRAGMENT)  # another cell has another answer
            _of_looks(shown, request, cell)
        elif request is not None:
            _of_whole_heads(shown, request)
        if dropped := forbidden_look.dropped(shown):
            st.caption(messages.plain(dropped))


def _of_whole_heads(shown: PageContext, request: "Request") -> None:
    key = f"{shown.captured.key} {request.key}"
    asked = current.view().switches.effects
    answered = None
    if measurement.may_measure_heads(shown, key, OFF):
        answered = answer_runs.answers(shown.captured, request, run_again.others(shown))
        if not (asked or _is_quick(shown, answered)):
            answered = None
    if answered is None:
        ask, key = text(shown.lang, "effects.ask"), widgets.key("effects.ask")
        st.button(ask, key=key, on_click=take_asked, args=("effects", FRAGMENT))
        return
    effects = None
    # what nobody asked for is not there where it cannot be measured: the room Change says why
    with nullcontext() if asked else suppress(AttnVizError):
        effects = measurement.head_effects(shown.lang, key, answered, OFF, with_bar=asked)
    if effects is not None:
        view = partial(effects_picture.of_heads, shown, answered.run.reader, effects)
        draw(CANVAS, view, "effects", shown.lang, kept=f"{shown.key} {request.key}")


def _of_looks(shown: PageContext, request: "Request | None", cell: tuple[int, int]) -> None:
    """Measure the look at a cell in every head that has it and looks elsewhere too."""
    if request is None:
        st.info(text(shown.lang, "effects.no_look"))
        return
    answered = answer_runs.answers(shown.captured, request, run_again.others(shown))
    looks = answered.run.same_look(*cell, shown.group.kind, shown.group.stack)
    if not looks:
        st.info(text(shown.lang, "effects.no_look"))
        return
    key = f"{shown.captured.key} {request.key}"
    cuts = measurement.look_cuts(shown.lang, key, answered, looks)
    if cuts is not None:
        view = partial(effects_picture.of_looks, shown, answered.run, cuts)
        draw(CANVAS, view, "effects", shown.lang, kept=f"{shown.key} {request.key} {cell}")


def _is_quick(shown: PageContext, answered: Answering) -> bool:
    """True if all heads take little time."""
    n_heads = sum(call.n_heads for group in shown.captured.groups for call in group.calls)
    return n_heads * answered.pass_ms <= QUICK_MS
