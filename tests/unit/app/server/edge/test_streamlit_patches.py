"""`streamlit_patches`: fragments wait, or are of a page that was left; choices in order."""

import asyncio
import importlib
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit
from streamlit import net_util
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests

from attnviz.app.server.edge import streamlit_patches
from tests.contracts import project
from tests.support.event_loop import run_apart
from tests.support.server import ROOT

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
    monkeypatch.setattr(AppSession, streamlit_patches.CREATE, AppSession._create_scriptrunner)
    monkeypatch.setattr(
        streamlit_patches,
        "_create",
        lambda _session, run: happened.append(run.fragment_id or "page"),
    )
    streamlit_patches.keep_runs_whole()
    return happened


async def asked(events: list[str], fragment: str, state: AppSessionState | None = None) -> None:
    """Ask for a run right after another has ended, and wait until both were seen to."""
    session = Session(events)
    session._event_loop.call_later(5 * streamlit_patches.WAIT_S, session.deliver)
    session.request_rerun(ClientState(fragment_id=fragment))
    session._state = state or session._state
    deadline = session._event_loop.time() + LIMIT_S
    n_awaited = 1 if state else 2
    while len(events) < n_awaited and session._event_loop.time() < deadline:
        await asyncio.sleep(streamlit_patches.WAIT_S)
    await asyncio.sleep(3 * streamlit_patches.WAIT_S)  # what would come too much comes now


def test_a_fragment_waits_for_the_messages_of_the_run_before(events: list[str]) -> None:
    run_apart(asked(events, "count"))
    assert events == ["messages", "count"]


def test_a_whole_page_does_not_wait(events: list[str]) -> None:
    run_apart(asked(events, ""))
    assert events == ["page", "messages"]


def test_a_session_that_ends_meanwhile_runs_nothing(events: list[str]) -> None:
    run_apart(asked(events, "count", AppSessionState.SHUTDOWN_REQUESTED))
    assert events == ["messages"]


@pytest.mark.parametrize(
    ("shown", "page", "fragments", "runs"),
    [
        ("compute", "look", ["tiles"], False),
        ("compute", "compute", ["panels"], True),
        ("compute", "look", [], True),  # a link to another page
        ("", "look", ["tiles"], True),  # nothing was shown yet
        ("compute", "", ["panels"], True),  # a tab that does not know its page's name
    ],
)
def test_a_fragment_runs_only_on_the_page_that_is_shown(
    shown: str, page: str, fragments: list[str], runs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[RerunData] = []
    monkeypatch.setattr(streamlit_patches, "_run", lambda _runner, asked: ran.append(asked))
    runner: Any = SimpleNamespace(_pages_manager=SimpleNamespace(current_page_script_hash=shown))
    asked = RerunData(page_script_hash=page, fragment_id_queue=fragments)
    streamlit_patches.run(runner, asked)
    assert ran == [asked] * runs


@pytest.mark.parametrize(("page", "stays"), [("look", "compute"), ("compute", "compute")])
def test_a_page_that_is_asked_for_stays_so_when_a_fragment_of_the_one_before_is(
    page: str, stays: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ScriptRequests, streamlit_patches.ASK, streamlit_patches.ask)
    requests = ScriptRequests()
    assert requests.request_rerun(RerunData(page_script_hash="compute"))
    assert requests.request_rerun(RerunData(page_script_hash=page, fragment_id="tiles"))
    run = requests.on_scriptrunner_ready().rerun_data
    assert (run.page_script_hash, run.fragment_id_queue) == (stays, [])
    assert requests.request_rerun(RerunData(page_script_hash="compute", fragment_id="panels"))
    assert requests.on_scriptrunner_ready().rerun_data.fragment_id_queue == ["panels"]


def test_choices_that_one_run_takes_come_in_the_order_in_which_they_were_made() -> None:
    """Three choices while a page runs; each request has the value of every other widget, too."""
    joined = None
    for name in ("strip", "grid", "head"):
        other = WidgetState(id="box", string_value=name)
        choice = WidgetState(id=name, json_trigger_value=f'"{name}"')
        joined = streamlit_patches.join(joined, WidgetStates(widgets=[other, choice]))
    assert joined is not None
    assert [state.id for state in joined.widgets] == ["strip", "grid", "box", "head"]
    assert joined.widgets[2].string_value == "head"
    again = WidgetStates(widgets=[WidgetState(id="strip", json_trigger_value='"again"')])
    joined = streamlit_patches.join(joined, again)
    assert joined is not None
    assert [state.id for state in joined.widgets] == ["grid", "head", "strip"]
    assert joined.widgets[2].json_trigger_value == '"again"'


def test_another_version_of_streamlit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamlit, "__version__", "1.68.0")
    with pytest.raises(ImportError, match=r"1\.67\.x and found 1\.68\.0"):
        importlib.reload(streamlit_patches)


def test_the_pin_allows_the_versions_that_the_patches_know_and_no_other() -> None:
    metadata = project.pyproject()["project"]
    extras = metadata["optional-dependencies"].values()
    every = {*metadata["dependencies"], *(name for extra in extras for name in extra)}
    (pin,) = (name for name in every if name.startswith("streamlit"))
    major, minor = map(int, streamlit_patches.VERSION.split(".")[:2])
    assert pin.startswith(f"streamlit>={major}.{minor}.0,<{major}.{minor + 1}")


def test_no_outside_host_is_asked_for_our_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)
    streamlit_patches.ask_no_outside_host()
    assert net_util.get_external_ip() is None


def test_the_launcher_applies_the_patches() -> None:
    asked = (
        "import app; from streamlit import net_util as n;"
        " from streamlit.runtime.app_session import AppSession as a;"
        " from streamlit.runtime.scriptrunner.script_runner import ScriptRunner as s;"
        " from streamlit.runtime.scriptrunner_utils import script_requests as r;"
        " print(a._create_scriptrunner.__module__, n.get_external_ip.__module__,"
        " s._run_script.__module__, r.ScriptRequests._request_rerun_locked.__module__,"
        " r._coalesce_widget_states.__module__)"
    )
    command = [sys.executable, "-c", asked]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert answer.stdout.split() == [streamlit_patches.__name__] * 5
