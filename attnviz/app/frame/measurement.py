"""The result of a job that measures effects, or its progress on the page and a button to stop it.

In: what is to be measured, and a key that names it; or a job and its texts. Out: the result once it
is there; until then a bar that follows the job. The page runs again when the job is over; the jobs
of all visitors share their results.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import streamlit as st

from attnviz.app.server import answer_runs, jobs, page_queue
from attnviz.app.server.answer_runs import Answering
from attnviz.app.server.edge import streamlit_patches
from attnviz.app.server.jobs import SHORT_S, Job
from attnviz.app.session import current, widgets
from attnviz.app.session.fragment import fragment
from attnviz.i18n import Language, text
from attnviz.models.registry import REGISTRY
from attnviz.pictures.group.answers import SATURATED
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.switches import Off

if TYPE_CHECKING:
    from attnviz.experiment.cuts import Cuts, HeadEdge
    from attnviz.experiment.effects import Effects

SHORT_PATIENCE_S = 0.2  # other pages wait for this one
PIECE_MS = 100.0  # processor time of one piece of the work: a page may have to wait for its end
EFFECTS = "switchboard"  # the section of their texts
LEAST_ROWS = 4  # of a batch, beside its clean row
# with more tabs, and pages computed in a larger share of the time, none measures unasked
FEW_TABS, BUSY = 8, 0.2
FEW_JOBS = 4  # that wait
PATIENCE_S = 3.0  # an embedded model records its corpus and measures every head in less

Result = TypeVar("Result")


def result(
    lang: Language,
    name: str,
    key: str,
    work: Callable[[Job], Result],
    estimate_s: float = SHORT_S,
    *,
    with_bar: bool = True,
    asked: bool = True,
) -> Result | None:
    """The result of `work`; None while it is measured, or if a visitor stopped it.

    `name` is the section of the texts, `key` names all that determines the result. Of the work that
    waits, that with the smallest estimate is done first. Without a bar the page is done at once and
    runs again when the result is there; nobody can stop it then. What nobody `asked` for ends when
    the visitor looks at another.
    """
    key = f"{name} {key}"
    measurement = answer_runs.measurement(key, work, estimate_s, asked=asked)
    if with_bar or page_queue.queue.n_runs <= 1:  # who waits for a turn goes first
        measurement.job.wait(PATIENCE_S if with_bar else SHORT_PATIENCE_S)
    with st.container():  # holds its place, so that the component below stays where it is
        if not with_bar:
            if not measurement.job.over:
                _look_again(measurement.job)
        elif not measurement.job.over:
            job_progress(lang, measurement.job, f"{name}.measuring", f"{name}.cancel")
        elif measurement.job.state == "stopped":
            st.info(text(lang, f"{name}.stopped"))
            st.button(
                text(lang, "tiles.again"),
                key=widgets.key(f"{name}.again"),
                on_click=answer_runs.forget_measurement,
                args=(key,),
            )
    return measurement.ready()


def may_measure_heads(shown: PageContext, key: str, to: Off) -> bool:
    """True where the effects of an answer's heads were asked for, are known, or may begin unasked.

    Unasked only an embedded model is measured, and on a busy server none: a class that opens a
    text each gets its pages first, and a button that asks.
    """
    if current.view().switches.effects or answer_runs.has_begun(f"{EFFECTS} {key} {to}"):
        return True
    return shown.captured.name in REGISTRY and _is_free()


def _is_free() -> bool:
    """True where what nobody asked for may begin."""
    few = streamlit_patches.n_connected() <= FEW_TABS
    return jobs.waiting() <= FEW_JOBS and (few or page_queue.queue.busy_share <= BUSY)


def head_effects(
    lang: Language, key: str, answered: Answering, to: Off, *, with_bar: bool = True
) -> "Effects | None":
    """The effect of each head on an answer; `key` names all that determines the answer."""

    def work(job: Job) -> "Effects":
        return answered.run.effects(
            to=to, rows=_rows(answered), progress=job.report, cancel=job.cancel
        )

    asked = current.view().switches.effects
    return result(lang, EFFECTS, f"{key} {to}", work, with_bar=with_bar, asked=asked)


def look_cuts(
    lang: Language, key: str, answered: Answering, looks: "Sequence[HeadEdge]"
) -> "Cuts | None":
    """The answer without each of some looks, the same of all heads; `key` names the answer."""
    head, query, at = looks[0]
    key = f"{key} {head.kind} {head.stack} {query}.{at}"

    def work(job: Job) -> "Cuts":
        return answered.run.cuts(
            looks, rows=_rows(answered), progress=job.report, cancel=job.cancel
        )

    return result(lang, EFFECTS, key, work)


def _rows(answered: Answering) -> int:
    """As many rows as one piece of the work computes."""
    from attnviz.experiment.rows import PASS_ROWS

    return max(LEAST_ROWS, min(PASS_ROWS, round(PIECE_MS / answered.pass_ms)))


def lead_effects(lang: Language, key: str, answered: Answering, to: Off) -> "Effects | None":
    """The change of a nearly certain answer's lead without each head; None for another answer.

    None also where nobody asked for effects and the server is busy.
    """
    reader, lead = answered.run.reader, answered.run.reader.lead
    if lead is None or not reader.exclusive or float(reader.clean.max()) < SATURATED:
        return None
    key, asked = f"{key} {to} lead", current.view().switches.effects
    if not (asked or answer_runs.has_begun(f"{EFFECTS} {key}") or _is_free()):
        return None

    def work(job: Job) -> "Effects":
        run = answered.run.with_measure(lead)
        return run.effects(to=to, progress=job.report, cancel=job.cancel)

    return result(lang, EFFECTS, key, work)


POLL_S = 0.4


@fragment(run_every=POLL_S)
def _look_again(job: Job) -> None:
    """Have the page run again when the job is over."""
    if job.over:
        st.rerun()


@fragment(run_every=POLL_S)
def job_progress(lang: Language, job: Job, label: str, button: str, **values: str) -> None:
    """The bar, with the text `label` of a percentage and values, and a button named `button`."""
    if job.over:
        st.rerun()
    said = text(lang, label, percent=round(100 * job.fraction), **values)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.progress(min(1.0, job.fraction), text=said, width="stretch")
        st.button(text(lang, "tiles.cancel"), key=widgets.key(button), on_click=job.stop)
