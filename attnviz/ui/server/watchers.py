"""Who watches a job: when the last of its pages has gone, the job is given up.

In: a cached function that begins a job. Out: what it returned, with the session of this run among
the job's watchers; begun anew if the job was given up before. `edge.lifetime` knows which sessions
are still there: those of a tab that was closed are let go after a while.
"""

from typing import Any, Protocol, TypeVar

from streamlit.runtime.scriptrunner import get_script_run_ctx

from attnviz.ui.server.jobs import Job


class HasJob(Protocol):
    """The result of a job, with the job."""

    job: Job


Result = TypeVar("Result", bound=HasJob, covariant=True)


class Cached(Protocol[Result]):
    """A function of Streamlit's cache."""

    def __call__(self, *arguments: Any) -> Result:
        """The result that is kept for these arguments."""

    def clear(self, *arguments: Any) -> None:
        """Forget that."""


def watched(cached: "Cached[Result]", *arguments: Any) -> Result:
    """The result of the cached function, watched by the session of this run."""
    result = cached(*arguments)
    if result.job.was_given_up:
        cached.clear(*arguments)
        result = cached(*arguments)
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None:
        result.job.watchers.add(context.session_id)
    return result
