"""The progress of a job on its page, with a button to stop it.

In: a job and its texts. Out: a bar that follows the job; the page runs again when the job is over.
"""

from collections.abc import Callable

import streamlit as st

from attnviz.app.server.jobs import Job
from attnviz.app.session import widgets
from attnviz.app.session.fragment import fragment
from attnviz.i18n import Language, text

POLL_S = 0.4


@fragment(run_every=POLL_S)
def job_progress(lang: Language, job: Job, label: Callable[[str], str], button: str) -> None:
    """The bar, with the `label` of a percentage, and a button that is named `button`."""
    if job.over:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        percent = f"{100 * job.fraction:.0f}"
        st.progress(min(1.0, job.fraction), text=label(percent), width="stretch")
        st.button(text(lang, "tiles.cancel"), key=widgets.key(button), on_click=job.stop)
