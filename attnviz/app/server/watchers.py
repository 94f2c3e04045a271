"""Who watches a job: when the last of its pages has gone, the job is given up.

In: a shared function that begins a job. Out: what it returned, with the session of this run among
the job's watchers; begun anew if the job was given up before. `edge.lifetime` knows which sessions
are still there: those of a tab that was closed are let go after a while. Of what nobody asked for,
such as the effects of a text's heads, a session watches one job: another text takes its place.
"""

from typing import Any, TypeVar
from weakref import WeakValueDictionary

from streamlit.runtime.scriptrunner import get_script_run_ctx

from attnviz.app.server.jobs import HasJob, Job
from attnviz.app.server.shared import Shared

Result = TypeVar("Result", bound=HasJob)


_unasked: "WeakValueDictionary[str, Job]" = WeakValueDictionary()


def watched(shared: Shared[..., Result], *arguments: Any, asked: bool = True) -> Result:
    """The result of the shared function, watched by the session of this run.

    What was not `asked` for takes the place of what the session watched so before.
    """
    result = shared(*arguments)
    if result.job.was_given_up:
        shared.forget(*arguments)
        result = shared(*arguments)
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None:
        session = context.session_id
        result.job.watchers.add(session)
        if not asked:
            last = _unasked.get(session)
            _unasked[session] = result.job
            if last is not None and last is not result.job:
                last.leave(session)
    return result
