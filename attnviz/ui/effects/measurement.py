"""The result of a job that measures effects, or its progress on the page and a button to stop it.

In: what is to be measured, and a key that names it. Out: its result once it is there; the jobs of
all visitors share it.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.ui.server import cache
from attnviz.ui.server.answering import Measurement
from attnviz.ui.server.jobs import Job
from attnviz.ui.session import widgets
from attnviz.ui.session.fragment import fragment

PATIENCE_S = 3.0  # an embedded model records its corpus and measures every head in less
POLL_S = 0.4

Result = TypeVar("Result")


def result(lang: Language, name: str, key: str, work: Callable[[Job], Result]) -> Result | None:
    """The result of `work`; None while it is measured, and where that was stopped.

    `name` is the section of the texts, `key` names all that determines the result.
    """
    key = f"{name} {key}"
    measurement = cache.measurement(key, work)
    measurement.job.wait(PATIENCE_S)
    with st.container():  # holds its place, so that the component below stays where it is
        if not measurement.job.over:
            _progress(lang, name, measurement)
        elif measurement.job.state == "stopped":
            st.info(text(lang, f"{name}.stopped"))
            st.button(
                text(lang, "tiles.again"),
                key=widgets.key(f"{name}.again"),
                on_click=cache.forget_measurement,
                args=(key,),
            )
    return measurement.ready()


@fragment(run_every=POLL_S)
def _progress(lang: Language, name: str, measurement: Measurement[Any]) -> None:
    """A progress bar and a button to stop; the page runs again when the job is over."""
    job: Job = measurement.job
    if job.over:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        percent = f"{100 * job.fraction:.0f}"
        st.progress(
            min(1.0, job.fraction),
            text=text(lang, f"{name}.measuring", percent=percent),
            width="stretch",
        )
        st.button(text(lang, "tiles.cancel"), key=widgets.key(f"{name}.cancel"), on_click=job.stop)
