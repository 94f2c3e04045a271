"""A fragment that is asked for while a run's messages are on their way waits for them."""

import asyncio

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests

from attnviz.ui.server.edge import whole_runs
from tests.support.event_loop import run_apart

LIMIT_S = 10.0


class Session:
    """As much of a session as a request for a run needs; its last run has ended a moment ago."""

    request_rerun = AppSession.request_rerun

    def __init__(self, events: list[str]) -> None:
        self.events = events
        self._event_loop = asyncio.get_running_loop()
        self._state = AppSessionState.APP_IS_RUNNING
        self._client_state = ClientState()
        self._scriptrunner: ScriptRequests | None = ScriptRequests()
        self._scriptrunner.request_stop()

    def has_fragment(self, _name: str) -> bool:
        return True

    def deliver(self) -> None:
        """Hand on the messages of the last run, which ends with that of its end."""
        self.events.append("messages")
        self._scriptrunner = None

    def _create_scriptrunner(self, run: RerunData) -> None:
        AppSession._create_scriptrunner(self, run)  # type: ignore[arg-type]


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What happens to a session, in this order."""
    happened: list[str] = []
    monkeypatch.setattr(AppSession, whole_runs.CREATE, AppSession._create_scriptrunner)
    monkeypatch.setattr(
        whole_runs, "_create", lambda _session, run: happened.append(run.fragment_id or "page")
    )
    whole_runs.keep_whole()
    return happened


async def asked(events: list[str], fragment: str, state: AppSessionState | None = None) -> None:
    """Ask for a run right after another has ended, and wait until both were seen to."""
    session = Session(events)
    session._event_loop.call_later(5 * whole_runs.WAIT_S, session.deliver)
    session.request_rerun(ClientState(fragment_id=fragment))
    session._state = state or session._state
    deadline = session._event_loop.time() + LIMIT_S
    n_awaited = 1 if state else 2
    while len(events) < n_awaited and session._event_loop.time() < deadline:
        await asyncio.sleep(whole_runs.WAIT_S)
    await asyncio.sleep(3 * whole_runs.WAIT_S)  # what would come too much comes now


def test_a_fragment_waits_for_the_messages_of_the_run_before(events: list[str]) -> None:
    run_apart(asked(events, "count"))
    assert events == ["messages", "count"]


def test_a_whole_page_does_not_wait(events: list[str]) -> None:
    run_apart(asked(events, ""))
    assert events == ["page", "messages"]


def test_a_session_that_ends_meanwhile_runs_nothing(events: list[str]) -> None:
    run_apart(asked(events, "count", AppSessionState.SHUTDOWN_REQUESTED))
    assert events == ["messages"]
