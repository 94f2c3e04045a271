"""All that relies on private parts of Streamlit: four patches, and what the server reads of it.

Streamlit has no setting for any of this. The parts are those of the versions that `VERSION` names,
as `pyproject.toml` pins them; another version is refused when the server starts, so that whoever
raises the pin looks at each function here first.

Patched: the begin of a fragment's run (`keep_runs_whole`), fragments of a page that was left
(`leave_pages`), the order of the choices that one run takes (`take_choices_in_order`), and the
question for the server's own address (`ask_no_outside_host`). Read: the sessions there are, those
of closed tabs, the bytes of uploads.
"""

from typing import Any

import streamlit
from streamlit import net_util
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils import script_requests
from streamlit.runtime.scriptrunner_utils.script_requests import (
    RerunData,
    ScriptRequests,
    ScriptRequestType,
)

VERSION = "1.67."
if not streamlit.__version__.startswith(VERSION):
    raise ImportError(
        f"attnviz runs on Streamlit {VERSION}x and found {streamlit.__version__};"
        f" pip install 'streamlit=={VERSION}*'"
    )

CREATE = "_create_scriptrunner"
WAIT_S = 0.01
_create = AppSession._create_scriptrunner
RUN = "_run_script"
_run = ScriptRunner._run_script
ASK = "_request_rerun_locked"
_ask = ScriptRequests._request_rerun_locked
JOIN = "_coalesce_widget_states"
_join = script_requests._coalesce_widget_states


def apply() -> None:
    """Patch Streamlit for this process."""
    keep_runs_whole()
    leave_pages()
    take_choices_in_order()
    ask_no_outside_host()


# --- a fragment's run waits for the messages of the run before it --------------------------------
#
# Streamlit hands the messages of a run to the server's loop, and drops those of a run that is not
# the session's latest. On a busy server a page may ask for a fragment after a run has ended, but
# before its messages were sent: a class tells its pages of a change by a socket of its own. The
# fragment's run would take their place, and the page would stay half old.


def keep_runs_whole() -> None:
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


# --- a page that was left is not run again --------------------------------------------------------
#
# A tab asks for a fragment by its page's name, also while the next page runs. Streamlit has it run
# after that one and tells the tab that its page is the former again: the tab throws away what the
# next page drew. Joined with a request for the next page, it would have the former run instead.


def leave_pages() -> None:
    """Have no fragment of a page run once another page was asked for."""
    setattr(ScriptRunner, RUN, run)
    setattr(ScriptRequests, ASK, ask)


def run(runner: ScriptRunner, asked: RerunData) -> None:
    """Run a page, or fragments of the page that is shown."""
    if not (
        asked.fragment_id_queue
        and _is_of_another(runner._pages_manager.current_page_script_hash, asked)
    ):
        _run(runner, asked)


def ask(requests: ScriptRequests, asked: RerunData) -> bool:
    """Ask for a run; True if the runner takes the request, or has no use for it."""
    is_left = (
        requests._state is ScriptRequestType.RERUN
        and bool(asked.fragment_id)
        and _is_of_another(requests._rerun_data.page_script_hash, asked)
    )
    return is_left or _ask(requests, asked)


def _is_of_another(page: str, asked: RerunData) -> bool:
    """True if a run is of another page than this one; a page that is opened has no name yet."""
    return bool(page and asked.page_script_hash) and page != asked.page_script_hash


# --- choices that one run takes come in the order in which they were made -------------------------
#
# While a page runs, Streamlit joins what is asked meanwhile into one next run. It puts the newest
# choice before the older ones, and the callbacks run in that order: a word that was let go of
# before a head was chosen would take that head back.


def take_choices_in_order() -> None:
    """Have a run that answers several choices take the oldest first."""
    setattr(script_requests, JOIN, join)


def join(old: WidgetStates | None, new: WidgetStates | None) -> WidgetStates | None:
    """All that two requests for a run sent, the choices of the older one first."""
    joined = _join(old, new)
    if joined is None or not old or not new:
        return joined
    is_choice = script_requests._has_active_trigger_value
    newest = {state.id for state in new.widgets if is_choice(state)}
    older = {state.id for state in old.widgets if is_choice(state)} - newest
    return WidgetStates(widgets=sorted(joined.widgets, key=lambda state: state.id not in older))


# --- no question to an outside host --------------------------------------------------------------
#
# A websocket with a foreign `Origin` makes the server ask an outside host for its own address,
# twice, each time.


def ask_no_outside_host() -> None:
    """Have the address of this server, as others see it, stay unknown."""
    net_util.get_external_ip = lambda: None


# --- sessions and uploads ------------------------------------------------------------------------


def session_ids() -> list[str]:
    """The sessions that are kept, also those of tabs that lost their connection."""
    if not Runtime.exists():
        return []
    return [info.session.id for info in Runtime.instance()._session_mgr.list_sessions()]


def n_connected() -> int:
    """The number of sessions whose tab is connected; none where a page runs without a server."""
    sessions = getattr(Runtime.instance(), "_session_mgr", None) if Runtime.exists() else None
    return 0 if sessions is None else len(sessions.list_active_sessions())


def release_ended(kept_s: float, storage: object = None) -> None:
    """Let go of the sessions of tabs that were closed so long ago, and keep new ones as long.

    Streamlit keeps them for two minutes, and lets go of one only when another one ends. The
    storage is that of the running server unless it is given.
    """
    if storage is None and Runtime.exists():
        storage = getattr(Runtime.instance()._session_mgr, "_session_storage", None)
    if not isinstance(storage, MemorySessionStorage):
        return
    kept: Any = storage._cache
    if getattr(kept, "ttl", kept_s) != kept_s:
        shorter = type(kept)(kept.maxsize, kept_s)
        shorter.update(kept)
        storage._cache = kept = shorter
    if hasattr(kept, "expire"):
        kept.expire()


def uploaded_bytes() -> int:
    """The uploaded files that the server keeps, of all open pages."""
    manager: Any = Runtime.instance().uploaded_file_mgr if Runtime.exists() else None
    return manager._total_bytes if manager is not None else 0
