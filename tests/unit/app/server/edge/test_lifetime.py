"""`lifetime`: ended sessions are let go without another visitor, and jobs are stopped."""

import asyncio
import gc
import weakref
from types import SimpleNamespace

import pytest
from streamlit.runtime.memory_session_storage import MemorySessionStorage

import attnviz
from attnviz.app.server import jobs
from attnviz.app.server.edge import lifetime, streamlit_patches, warm
from tests.support.event_loop import run_apart
from tests.support.waiting import LIMIT_S


class Held:
    """Something large that a session holds, in a cycle."""

    def __init__(self) -> None:
        self.itself = self


def test_release_ended_lets_go_of_old_sessions() -> None:
    storage, held = MemorySessionStorage(), Held()
    gone = weakref.ref(held)
    storage.save(SimpleNamespace(session=SimpleNamespace(id="a", held=held)))  # type: ignore[arg-type]
    del held
    gc.freeze()  # as a model's load does
    streamlit_patches.release_ended(3600.0, storage)
    assert [info.session.id for info in storage.list()] == ["a"]
    streamlit_patches.release_ended(-1.0, storage)  # as long after its end
    lifetime.collect(whole=True)
    assert not storage.list() and gone() is None


@pytest.mark.slow
def test_a_collection_while_pages_are_open_leaves_what_is_frozen() -> None:
    held = Held()
    gone = weakref.ref(held)
    del held
    gc.freeze()
    n_frozen = gc.get_freeze_count()
    lifetime.collect(whole=False)
    assert gc.get_freeze_count() == n_frozen and gone() is not None
    lifetime.collect(whole=True)
    assert gone() is None


def test_all_objects_are_collected_once_a_minute_or_when_nobody_is_there() -> None:
    schedule = lifetime.Schedule(0.0)
    dues = [schedule.due(*at) for at in ((50, 10.0), (50, 20.0), (49, 30.0), (40, 40.0))]
    assert dues == ["none", "none", "young", "young"]
    assert schedule.due(40, 60.0) == "whole"  # what the two before left
    assert schedule.due(40, 200.0) == "none"  # nobody went
    assert schedule.due(39, 210.0) == "whole" and schedule.due(38, 220.0) == "young"
    assert schedule.due(0, 230.0) == "whole"


def test_the_end_of_the_server_stops_its_jobs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(warm, "begin", lambda _prepare: None)
    last: list[object] = []
    monkeypatch.setattr(lifetime.atexit, "register", last.append)
    begun = jobs.start(lambda job: job.cancel.wait(LIMIT_S) and None)

    async def life() -> None:
        async with lifetime.lifetime(lambda: None, SimpleNamespace()):  # type: ignore[arg-type]
            await asyncio.sleep(0)

    run_apart(life())
    begun.wait(LIMIT_S)
    assert begun.state == "stopped" and last == [lifetime.end_at_once]
    assert capsys.readouterr().err.startswith(f"attnviz: {attnviz.__version__} begins")
