"""Who watches a job: when the last of its pages has gone, the job is given up.

In: a shared function that begins a job. Out: what it returned, with the session of this run among
the job's watchers; begun anew if the job was given up before. `edge.lifetime` knows which sessions
are still there: those of a tab that was closed are let go after a while.
"""

from typing import Any, TypeVar

from streamlit.runtime.scriptrunner import get_script_run_ctx

from attnviz.app.server.jobs import HasJob
from attnviz.app.server.shared import Shared

Result = TypeVar("Result", bound=HasJob)


def watched(shared: Shared[..., Result], *arguments: Any) -> Result:
    """The result of the shared function, watched by the session of this run."""
    result = shared(*arguments)
    if result.job.was_given_up:
        shared.forget(*arguments)
        result = shared(*arguments)
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None:
        result.job.watchers.add(context.session_id)
    return result
