"""Each token of a classified text with its weight and its effect when hidden, on the page Output.

In: what is shown. Out: a table with the tokens as columns, for texts short enough to hide each
token in turn; the measurement itself, for callers that show more of it.
"""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.effects import inputs, measurement
from attnviz.app.host.draw import draw
from attnviz.app.server import answer_runs
from attnviz.app.server.answer_runs import Answering
from attnviz.app.server.jobs import Job
from attnviz.app.session import messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.experiment.outputs.classes import has_classes
from attnviz.i18n import Language, text
from attnviz.models.registry import REGISTRY
from attnviz.pictures import table
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.groups import queries
from attnviz.pictures.table import answer_parts as views

if TYPE_CHECKING:
    from attnviz.experiment.answer_measures import AnswerMeasure
    from attnviz.experiment.run import Experiment
    from attnviz.experiment.tokens import TokenScores

MAX_TOKENS = 64  # each is a run of the model


def fits(shown: PageContext) -> bool:
    """True for one text of a moderate length that an embedded model classifies."""
    captured, model = shown.captured, shown.captured.loaded
    if model is None or captured.name not in REGISTRY or model.tokenizer is None:
        return False
    return has_classes(model, captured.capture) and len(queries(shown.group)) <= MAX_TOKENS


@fragment("answer_tokens")
def show(shown: PageContext) -> None:
    """The table of tokens, where it fits."""
    request = inputs.of_shown(shown) if fits(shown) else None
    if request is None:
        return
    lang = shown.lang
    with messages.guard(lang):
        with st.spinner(text(lang, "wait.effects")):
            answered = answer_runs.answers(shown.captured, request, inputs.others(shown))
        key, lead = f"{shown.captured.key} {request.key}", answered.run.reader.lead
        where = None if lead is None else measured(lang, answered, lead, key)
        if where is None:
            return
        view = views.answer_tokens_table(lang, where, _lead(shown.captured))
        draw(table.CANVAS, view, widgets.component_key("answer_tokens"), lang)


def _lead(captured: AppCapture) -> float:
    """The largest logit of the first text minus the second."""
    assert captured.capture.logits is not None, "it fits"
    first, second = captured.capture.logits[0].float().topk(2).values.tolist()
    return float(first - second)


def measured(
    lang: Language, answered: Answering, on: "AnswerMeasure", key: str
) -> "TokenScores | None":
    """The score of each token by each method; None while it is measured."""
    work = partial(_from_where, answered.run, on)
    return measurement.result(lang, "where", f"{key} {on}", work)


def _from_where(run: "Experiment", on: "AnswerMeasure", job: Job) -> "TokenScores":
    job.report(0.1)
    return run.with_measure(on).tokens()
