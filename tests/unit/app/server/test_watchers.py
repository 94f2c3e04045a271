"""A job of each kind is given up when the last tab that asked for it has gone, and begun anew."""

import threading
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace

import pytest

from attnviz import tiles
from attnviz.app.server import answer_runs, jobs, pyramids, trainings, watchers
from attnviz.app.server.jobs import Job
from attnviz.errors import Cancelled
from tests.support.waiting import LIMIT_S
from tests.unit.tiles.test_pyramid import make_call

HERE, ELSEWHERE = "session here", "session elsewhere"


def until_cancelled(cancel: threading.Event) -> None:
    """Work that never comes to an end by itself."""
    assert cancel.wait(LIMIT_S)
    raise Cancelled("stopped", code="cancelled")


def train(_seed: int, _n_steps: int | None) -> trainings.Training:
    def steps(cancel: threading.Event) -> Iterable[object]:
        until_cancelled(cancel)
        return ()

    return trainings.start(0, 10, steps)  # type: ignore[arg-type]


KINDS: dict[str, Callable[[], watchers.HasJob]] = {
    "measurement": lambda: answer_runs.measurement(
        "of this test", lambda job: until_cancelled(job.cancel)
    ),
    "pyramid": lambda: pyramids.pyramid("of this test", make_call(300, 300), 0, None),
    "training": lambda: trainings.training(0, n_steps=10),
}


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """The session of the run; nothing of these tests stays in the caches."""
    context = SimpleNamespace(session_id=HERE)
    monkeypatch.setattr(watchers, "get_script_run_ctx", lambda **_: context)
    monkeypatch.setattr(tiles, "build", lambda *_, cancel, **__: until_cancelled(cancel))
    monkeypatch.setattr(trainings, "begin", train)
    yield context
    jobs.stop_all()
    answer_runs.forget_measurement("of this test")
    pyramids.forget("of this test")
    trainings._training.forget(0, 10)


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_is_given_up_with_its_last_watcher(session: SimpleNamespace, kind: str) -> None:
    job = KINDS[kind]().job
    session.session_id = ELSEWHERE
    assert KINDS[kind]().job is job and job.watchers == {HERE, ELSEWHERE}
    jobs.stop_unwatched([ELSEWHERE])
    assert not job.over
    jobs.stop_unwatched(["of somebody else"])
    assert job.was_given_up and job.state == "stopped"
    job.wait(LIMIT_S)
    anew = KINDS[kind]().job
    assert anew is not job and not anew.over and anew.watchers == {ELSEWHERE}


def test_a_job_that_no_page_asked_for_goes_on() -> None:
    job = jobs.start(lambda job: until_cancelled(job.cancel))
    jobs.stop_unwatched([])
    assert not job.over
    job.stop()


def test_a_job_that_a_visitor_stopped_stays_stopped(session: SimpleNamespace) -> None:
    job: Job = KINDS["measurement"]().job
    job.stop()
    assert KINDS["measurement"]().job is job


def test_what_nobody_asked_for_gives_way_to_the_next_of_its_session(
    session: SimpleNamespace,
) -> None:
    def of_text(name: str) -> Job:
        def work(job: Job) -> None:
            until_cancelled(job.cancel)

        return answer_runs.measurement(f"unasked {name}", work, asked=False).job

    try:
        first, second = of_text("first"), of_text("second")
        assert first.was_given_up and first.state == "stopped" and not second.over
        session.session_id = ELSEWHERE
        assert of_text("second") is second and second.watchers == {HERE, ELSEWHERE}
        of_text("third")
        assert not second.over, "it is watched here"
        session.session_id = HERE
        assert not of_text("first").over, "it is begun anew"
        assert second.was_given_up
    finally:
        jobs.stop_all()
        for name in ("first", "second", "third"):
            answer_runs.forget_measurement(f"unasked {name}")
