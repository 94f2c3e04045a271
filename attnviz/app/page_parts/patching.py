"""Patching below Compare: the heads that carry the difference between two texts to the answer.

In: what is shown on either side. Out: a switch, and below it a table of heads for the output, the
pattern or the values, with the strongest head's control in words.
"""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.frame import attention_choice, measurement, run_again
from attnviz.app.frame.choices import take_chosen, toggle
from attnviz.app.host.draw import draw
from attnviz.app.page_parts import compare
from attnviz.app.server import answer_runs
from attnviz.app.server.answer_runs import Answering
from attnviz.app.server.jobs import Job
from attnviz.app.session import current, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.app.session.view import PATCH_STAGES
from attnviz.i18n import text
from attnviz.pictures import table
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.table import patching as views

if TYPE_CHECKING:
    from attnviz.experiment.answer_measures import AnswerMeasure
    from attnviz.experiment.patching import Patching

FRAGMENT = "patching"


@fragment(FRAGMENT)
def show(left: PageContext, right: PageContext) -> None:
    """The switch and what it shows."""
    lang = left.lang
    if not toggle(text(lang, "patching.show"), "patch", FRAGMENT):
        return
    with messages.guard(lang):
        if any(run_again.needs_model(side, "patching") for side in (left, right)):
            return
        if not _fits(left, right):
            st.info(text(lang, "patching.not_here"))
            return
        n_left, n_right = (len(side.captured.capture.tokens) for side in (left, right))
        if n_left != n_right:
            st.info(text(lang, "patching.lengths", a=n_left, b=n_right))
            return
        _choose_stage(left)
        with st.spinner(text(lang, "wait.effects")):
            a = run_again.answering(left, compare.left_side().text)
            b = run_again.answering(right, compare.right_side().text)
        key = f"{left.captured.key} {right.captured.key}"
        work = partial(_measured, a, b, _measure(a, b))
        patching = measurement.result(lang, "patching", key, work)
        if patching is not None:
            _result(left, right, (a, b), patching)


def _fits(left: PageContext, right: PageContext) -> bool:
    """True for two texts of one model that answers with a word, a class or a vector."""
    model = left.captured.model
    return (
        model is right.captured.model
        and model.kind in ("encoder", "decoder")
        and left.size.whole
        and not left.captured.n_asked
    )


def _choose_stage(shown: PageContext) -> None:
    names = {stage: text(shown.lang, f"patching.stage_{stage}") for stage in PATCH_STAGES}
    widget = f"patching.stage.{shown.lang}"
    st.segmented_control(
        text(shown.lang, "patching.stage"),
        PATCH_STAGES,
        key=widgets.showing(widget, current.view().patching.stage),
        format_func=names.__getitem__,
        on_change=take_chosen,
        args=("stage", widget, FRAGMENT),
    )


def _measured(left: Answering, right: Answering, measure: "AnswerMeasure", job: Job) -> "Patching":
    run = left.run.with_measure(measure)
    return run.patched_from(right.run, progress=job.report, cancel=job.cancel)


def _measure(left: Answering, right: Answering) -> "AnswerMeasure":
    """The number that tells both answers apart: the right one's lead over the left one's."""
    from attnviz.experiment.answer_measures import Cosine

    lead = answer_runs.telling_apart(right, left) or left.run.reader.lead
    return lead or Cosine(to=compare.right_side().text)


def _result(
    left: PageContext, right: PageContext, sides: tuple[Answering, Answering], patching: "Patching"
) -> None:
    lang, stage = left.lang, current.view().patching.stage
    readers = [side.run.reader for side in sides]
    answers = tuple(
        messages.quoted(lang, left.captured.name, reader.name(int(reader.clean.argmax())))
        if reader.is_probability
        else ""
        for reader in readers
    )
    kind = views.answers_kind(*readers)
    if kind == "_same":  # then the lead is over what A's answer is held against
        answers = answers[0], run_again.lead_in_words(left, sides[0])[1].get("second", answers[1])
    for sentence in views.sentences(lang, patching, stage, (answers[0], answers[1]), kind):
        st.markdown(sentence)
    on = {"table": attention_choice.open_from_table(left)}
    for place, view in enumerate(views.boards(lang, patching, stage)):
        draw(table.CANVAS, view, f"patching.{place}", lang, on)
