"""`Job`: it reports progress, is cancelled while it waits or runs, and keeps its error."""

import threading

import pytest

from attnviz.app.server import jobs, page_queue
from attnviz.app.server.jobs import Job, JobLine
from attnviz.errors import AttnVizError, Cancelled
from tests.support.waiting import LIMIT_S


class Gate:
    """Work that reports half of its progress, then waits until it is let go or cancelled."""

    def __init__(self) -> None:
        self.began, self.go = threading.Event(), threading.Event()

    def __call__(self, job: Job) -> None:
        job.report(0.5)
        self.began.set()
        while not self.go.wait(0.01):
            if job.cancel.is_set():
                raise Cancelled("stopped", code="cancelled")
        job.report(1.0)


def over(job: Job) -> Job:
    job.wait(LIMIT_S)
    assert job.over
    return job


def test_progress_is_seen_while_it_runs() -> None:
    gate = Gate()
    job = jobs.start(gate)
    assert gate.began.wait(LIMIT_S)
    assert (job.state, job.fraction, job.over) == ("running", 0.5, False)
    gate.go.set()
    assert (over(job).state, job.fraction, job.error) == ("done", 1.0, None)


def test_stop_ends_a_running_job_at_once_for_its_watcher() -> None:
    gate = Gate()
    job = jobs.start(gate)
    assert gate.began.wait(LIMIT_S)
    job.stop()
    assert job.state == "stopped" and job.over
    assert over(job).error is None and job.fraction == 0.5


def test_a_job_that_is_stopped_while_it_waits_never_runs() -> None:
    gates = [Gate() for _ in range(jobs.THREADS)]
    running = [jobs.start(gate) for gate in gates]
    assert all(gate.began.wait(LIMIT_S) for gate in gates)
    ran: list[Job] = []
    waiting, last = jobs.start(ran.append), jobs.start(ran.append)
    assert (waiting.state, last.state) == ("waiting", "waiting")
    waiting.stop()
    assert waiting.state == "stopped"
    running[0].stop()
    assert over(last).state == "done"
    waiting.wait(LIMIT_S)
    assert ran == [last]
    for gate in gates:
        gate.go.set()
    for job in running:
        over(job)


def test_an_error_is_kept_for_whoever_watches() -> None:
    def broken(job: Job) -> None:
        job.report(0.25)
        raise ValueError("no such thing")

    job = over(jobs.start(broken))
    assert job.state == "failed" and job.fraction == 0.25
    assert job.error is not None and job.error.code == "unexpected", "the log has what it was"
    with pytest.raises(AttnVizError, match="went wrong inside attnviz"):
        job.raise_error()
    job.stop()
    assert job.state == "failed"


def test_an_error_after_a_stop_is_a_stop() -> None:
    def broken(job: Job) -> None:
        job.cancel.wait(LIMIT_S)
        raise RuntimeError("torn down")

    job = jobs.start(broken)
    job.stop()
    assert over(job).state == "stopped" and job.error is None


def test_what_is_done_is_not_stopped() -> None:
    job = over(jobs.start(lambda job: job.report(1.0)))
    job.stop()
    assert job.state == "done" and not job.cancel.is_set()


def test_a_job_runs_in_a_daemon_thread() -> None:
    threads: list[threading.Thread] = []
    over(jobs.start(lambda _: threads.append(threading.current_thread())))
    assert [(thread.name, thread.daemon) for thread in threads] == [("attnviz-job", True)]


@pytest.mark.parametrize("limit_s", [0.0, 0.01])
def test_wait_returns_after_its_limit(limit_s: float) -> None:
    gate = Gate()
    job = jobs.start(gate)
    job.wait(limit_s)
    assert not job.over
    gate.go.set()
    over(job)


def begun(line: JobLine, names: list[str], name: str, visitor: str, estimate_s: float) -> Job:
    """A job that notes its name when it begins."""
    return line.start(lambda _job: names.append(name), visitor, estimate_s)


def test_the_shortest_job_begins_first_and_a_visitor_has_one_long_one_at_a_time() -> None:
    line, names, gate, other = JobLine(threads=2), list[str](), Gate(), Gate()
    long_s = 10 * jobs.SHORT_S
    first = line.start(gate, "hostile", long_s)
    assert gate.began.wait(LIMIT_S)
    tabs = [begun(line, names, f"tab {n}", "hostile", long_s) for n in range(3)]
    assert [tab.state for tab in tabs] == ["waiting"] * 3, "though a thread is free"
    second = line.start(other, "ann", long_s)
    assert other.began.wait(LIMIT_S)
    waiting = [
        begun(line, names, "bob's long one", "bob", long_s),
        begun(line, names, "bob's short one", "bob", 1.0),
        begun(line, names, "cid's shorter one", "cid", 0.5),
    ]
    assert line.n_waiting == 6
    other.go.set()
    for job in (second, *waiting):
        over(job)
    assert names == ["cid's shorter one", "bob's short one", "bob's long one"]
    gate.go.set()
    for job in (first, *tabs):
        over(job)
    assert names[3:] == ["tab 0", "tab 1", "tab 2"] and line.n_waiting == 0


def test_jobs_that_wait_are_bounded_and_those_given_up_do_not_count() -> None:
    line, gate = JobLine(threads=1, most=2), Gate()
    running = line.start(gate, "ann", 1.0)
    assert gate.began.wait(LIMIT_S)
    waiting = [line.start(lambda _job: None, "bob", 1.0) for _ in range(2)]
    with pytest.raises(AttnVizError, match="2 runs are waiting"):
        line.start(lambda _job: None, "cid", 1.0)
    waiting[0].stop()
    last = line.start(lambda _job: None, "cid", 1.0)
    gate.go.set()
    for job in (running, *waiting, last):
        over(job)


def test_a_piece_of_work_lets_the_page_go_first_unless_the_page_waits_for_it() -> None:
    done = threading.Event()

    def work(job: Job) -> None:
        job.report(0.5)
        done.set()

    with page_queue.queue.turn():
        job = jobs.start(work)
        assert not done.wait(0.3)
        job.wait(LIMIT_S)
        assert done.is_set()
    done.clear()
    with page_queue.queue.turn():
        job = jobs.start(work)
        assert not done.wait(0.3)
    assert done.wait(jobs.GIVE_WAY_S / 2), "the page is over"
    over(job)
