"""The parts that wrote the answer, and the tokens that it comes from, on the page Output.

In: what is shown, and the guess of the lens that was chosen. Out: two switches, and below each that
is on a table, with interventions beside the shares.
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.effects import answer_tokens, head_links, inputs, lens, measurement
from attnviz.app.host.draw import draw
from attnviz.app.server import answer_runs
from attnviz.app.server.answer_runs import Answering
from attnviz.app.server.jobs import Job
from attnviz.app.session import current, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.app.sidebar.navigation import renew
from attnviz.i18n import text
from attnviz.pictures import table
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.table import answer_parts as views

if TYPE_CHECKING:
    from attnviz.capture.request import Request
    from attnviz.experiment.answer_measures import AnswerMeasure
    from attnviz.experiment.direct import Direct
    from attnviz.experiment.effects import Effects
    from attnviz.experiment.run import Experiment


def fits(captured: AppCapture) -> bool:
    """True for a model that reads one text."""
    model = captured.loaded
    return (
        model is not None and model.kind in ("encoder", "decoder") and model.tokenizer is not None
    )


@fragment(lens.PARTS)
def show(shown: PageContext) -> None:
    """The switches and what they show."""
    if not fits(shown.captured):
        return
    lang = shown.lang
    with st.container(horizontal=True):
        shows = current.view().output
        for name, on in (("parts", shows.parts), ("where", shows.where)):
            st.toggle(
                text(lang, f"{name}.show"),
                key=widgets.showing(f"answer.{name}", on),
                on_change=_take,
            )
    if not (shows.parts or shows.where):
        return
    with messages.guard(lang):
        request = inputs.of_whole(shown)
        if request is None:
            return
        with st.spinner(text(lang, "wait.effects")):
            answered = answer_runs.answers(shown.captured, request, inputs.others(shown))
        key = f"{shown.captured.key} {request.key}"
        if shows.parts:
            _parts(shown, answered, request)
        if shows.where:
            _where(shown, answered, key)


def _take() -> None:
    """A switch of this fragment; the links are renewed."""
    parts, where = (bool(widgets.value(f"answer.{name}")) for name in ("parts", "where"))
    view = current.view()
    current.update(replace(view, output=replace(view.output, parts=parts, where=where)))
    renew(lens.PARTS)


def _parts(shown: PageContext, answered: Answering, request: "Request") -> None:
    lang, on = shown.lang, _measure(shown, answered)
    if on is None:
        st.info(text(lang, "parts.not_here"))
        return
    st.markdown(_asked(shown, answered, on))
    key = f"{shown.captured.key} {request.key} {on}"
    work = partial(_split, answered.run, on)
    measured = measurement.result(lang, "parts", key, work)
    if measured is None:
        return
    name, view = widgets.component_key("parts"), views.parts_table(lang, *measured)
    draw(table.CANVAS, view, name, lang, {"table": head_links.open_from_table(name, shown)})


def _measure(shown: PageContext, answered: Answering) -> "AnswerMeasure | None":
    """The lead of the answer, or of the guess that was chosen in the lens."""
    from attnviz.experiment.answer_measures import NextToken

    lead, chosen = answered.run.reader.lead, current.view().output.guess
    if not chosen or not isinstance(lead, NextToken):
        return _number(shown, answered)
    place, state = map(int, chosen.split("."))
    guesses = lens.guesses(shown)
    if guesses is None or place >= guesses.ids.shape[1] or state >= guesses.ids.shape[0]:
        return lead
    last, own = guesses.ids[-1, place].tolist(), int(guesses.ids[state, place, 0])
    return NextToken(own, against=last[1] if own == last[0] else last[0], at=place)


def _asked(shown: PageContext, answered: Answering, on: "AnswerMeasure") -> str:
    """The question that the table answers, in words."""
    from attnviz.experiment.answer_measures import NextToken

    if not isinstance(on, NextToken):
        no_lead = answered.run.reader.lead is None
        return text(shown.lang, "parts.cosine" if no_lead else "parts.lead")
    model = answered.run.prepared.lm
    labels = model.labels_of([int(on.token), int(on.against or 0)])
    own, other = (messages.plain(label) for label in labels)
    tokens = next(iter(answered.run.prepared.tokens.values()))[0].labels
    return text(
        shown.lang,
        "parts.token",
        token=own,
        other=other,
        place=messages.plain(tokens[on.at]),
    )


def _split(run: "Experiment", on: "AnswerMeasure", job: Job) -> "tuple[Direct, Effects, float]":
    """The parts, the effect of every head on the same number, and how far both agree."""
    import numpy as np

    from attnviz.experiment.tokens import ranked

    asked = run.with_measure(on)
    direct = asked.direct()
    effects = asked.effects(progress=job.report, cancel=job.cancel)
    pairs = [
        (value, -effects.of(component.site))
        for component, value in zip(direct.components, direct.values, strict=True)
        if component.site is not None and component.site in effects.heads
    ]
    own, lost = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return direct, effects, ranked(own, lost)


def _where(shown: PageContext, answered: Answering, key: str) -> None:
    lang, on = shown.lang, _number(shown, answered)
    if on is None:
        st.info(text(lang, "parts.not_here"))
        return
    st.markdown(text(lang, "where.cosine" if answered.run.reader.lead is None else "where.lead"))
    where = answer_tokens.measured(lang, answered, on, key)
    if where is None:
        return
    view = views.tokens_table(lang, where, tuple(where.tokens.labels))
    draw(table.CANVAS, view, widgets.component_key("where"), lang)


def _number(shown: PageContext, answered: Answering) -> "AnswerMeasure | None":
    """The lead of the answer; of a sentence's vector its cosine to another sentence."""
    from attnviz.experiment.answer_measures import Cosine

    if answered.run.reader.lead is not None or answered.run.reader.kind != "cosines":
        return answered.run.reader.lead
    return Cosine(to=inputs.others(shown)[0])
