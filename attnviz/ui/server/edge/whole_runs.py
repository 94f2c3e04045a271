"""A run of a fragment waits for the messages of the run before it.

Streamlit hands the messages of a run to the server's loop, and drops those of a run that is not the
session's latest. On a busy server a page may ask for a fragment after a run has ended, but before
its messages were sent: a class tells its pages of a change by a socket of its own. The fragment's
run would take their place, and the page would stay half old.
"""

from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

CREATE = "_create_scriptrunner"
WAIT_S = 0.01
_create = AppSession._create_scriptrunner


def keep_whole() -> None:
    """Have the sessions of this server begin no run of a fragment too early."""
    setattr(AppSession, CREATE, begin)


def begin(session: AppSession, run: RerunData) -> None:
    """Begin a run; a fragment's once the messages of the run before have been handed on."""
    if session._scriptrunner is None or not run.fragment_id:
        _create(session, run)
    else:
        session._event_loop.call_later(WAIT_S, _begin_later, session, run)


def _begin_later(session: AppSession, run: RerunData) -> None:
    if session._state == AppSessionState.SHUTDOWN_REQUESTED:
        return
    runner = session._scriptrunner
    if runner is None or not runner.request_rerun(run):
        begin(session, run)
