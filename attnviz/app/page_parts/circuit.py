"""The paths over the switches of Change: what moves a later head's q, k or v, and the cut of one.

In: what is shown and the view. Out: a mounted component, which draws over the switches of the page;
in a frame, where it stands alone, a graph. A choice in it reruns this fragment alone;
threshold and sides act in the browser.
"""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from attnviz.app.frame import attention_choice, measurement, run_again
from attnviz.app.frame.choices import renew_links
from attnviz.app.host.draw import draw
from attnviz.app.server import answer_runs
from attnviz.app.server.answer_runs import Answering
from attnviz.app.server.jobs import Job
from attnviz.app.session import address_bar, current, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.errors import UnsupportedAttention
from attnviz.i18n import Language, text
from attnviz.pictures import circuit as component
from attnviz.pictures.circuit import CircuitView, PathDetail
from attnviz.pictures.circuit import fill as views
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.axes import token_axes
from attnviz.pictures.group.groups import Group

if TYPE_CHECKING:
    from attnviz.experiment.paths import Paths
    from attnviz.types import Site

# the measured paths, and the z of their composition where weights alone say it
Found = tuple["Paths", np.ndarray | None]
FRAGMENT = "circuit"
MODEL, REPEATED = "stories", "Tom garden ball river Anna bread Tom garden ball river Anna bread"


def example(lang: Language) -> None:
    """A button for the example in which the circuit of induction is the strongest path."""
    view = current.view()
    if address_bar.is_embedded() or (view.model, view.input.text) == (MODEL, REPEATED):
        return
    st.button(
        text(lang, "circuit.example"),
        key=widgets.key("circuit.example"),
        on_click=current.open_model_on,
        args=(MODEL, REPEATED),
        kwargs={"arrow": "", "least": ""},
    )


@fragment(FRAGMENT)
def graph(shown: PageContext) -> None:
    """The graph, and the cut of the chosen path."""
    lang = shown.lang
    with messages.guard(lang):
        request = run_again.of_whole(shown)
        if request is None:
            return
        with st.spinner(text(lang, "wait.effects")):
            answered = answer_runs.answers(shown.captured, request, run_again.others(shown))
        key = f"{shown.captured.key} {request.key}"
        found = measurement.result(lang, "circuit", key, partial(_measured, answered))
        if found is not None:
            _mount(shown, answered, found, key)


def _measured(answered: Answering, job: Job) -> Found:
    """The paths, and what the weights alone say of them."""
    loaded = answered.run.prepared.lm
    paths = answered.run.paths(progress=job.report, cancel=job.cancel)
    try:
        circuits = answer_runs.weights_alone(str(loaded.key), loaded)
    except UnsupportedAttention:
        return paths, None
    return paths, views.composed(circuits, paths.senders)


def _mount(shown: PageContext, answered: Answering, found: Found, key: str) -> None:
    lang, choice = shown.lang, current.view().circuit
    with st.spinner(text(lang, "wait.effects")):
        draw(
            component.CANVAS,
            lambda: _view(shown, answered, found),
            "circuit",
            lang,
            {"circuit": _take, "open": attention_choice.open_from_canvas(shown)},
            kept=f"{key} {choice} {address_bar.is_embedded()}",
        )


def _view(shown: PageContext, answered: Answering, found: Found) -> CircuitView:
    from attnviz.capture.changed.layout import layout_of
    from attnviz.capture.changed.references import reference_of

    lang, choice, (feeds, composed) = shown.lang, current.view().circuit, found
    known = {str(head) for head in feeds.senders}
    chosen = component.parse_chosen(choice.path)
    if chosen is not None and not {chosen.sender, chosen.receiver} <= {*known, ""}:
        chosen = None  # a head of another model
    return CircuitView(
        columns=views.columns(layout_of(answered.run.prepared.calls)),
        moved=feeds.moved.astype(np.float32),
        by_chance=feeds.by_chance.astype(np.float32),
        chance_reach=views.chance_reach(feeds),
        composed=composed,
        summary=views.summary(lang, feeds),
        notes=views.notes(lang, feeds, reference_of(answered.run.prepared.lm)),
        chosen="" if chosen is None else str(chosen),
        least=float(choice.least) if choice.least else None,
        sides=choice.sides,
        over=not address_bar.is_embedded(),
        detail=_detail(shown, answered, chosen) if chosen and chosen.receiver else None,
    )


def _detail(shown: PageContext, answered: Answering, chosen: component.Chosen) -> PathDetail:
    from attnviz.capture.changed.references import reference_of

    run = answered.run
    cut = run.cut(chosen.sender, chosen.receiver, chosen.side)
    group = _group_of(shown, cut.receiver)
    queries, keys = token_axes(shown.of_group(group), layer=cut.receiver.layer)
    tokens, reference = (queries.labels, keys.labels), reference_of(run.prepared.lm)
    return views.detail(shown.lang, run.prepared, run.reader, cut, tokens, reference)


def _group_of(shown: PageContext, head: "Site") -> Group:
    fitting = [
        group
        for group in shown.captured.groups
        if (group.kind, group.stack) == (head.kind, head.stack)
    ]
    return fitting[0] if fitting else shown.group


def _take(sent: object) -> None:
    """Store what was chosen in the graph; it and the links run again."""
    if current.take_circuit(sent):
        renew_links(FRAGMENT)
