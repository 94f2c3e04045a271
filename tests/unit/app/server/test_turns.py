"""The line of heavy work: order, slots, the number before one, a bound, and leaving it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from attnviz.app.server import turns
from attnviz.app.server.turns import Show, WaitingLine
from attnviz.errors import AttnVizError

LIMIT_S = 20


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that waits looks again at once whether its turn has come."""
    monkeypatch.setattr(turns, "POLL_S", 0.01)


class Gone(BaseException):
    """What Streamlit raises where a tab was closed."""


class Run(threading.Thread):
    """A run that takes its turn, and works until it may end."""

    def __init__(self, line: WaitingLine) -> None:
        super().__init__(daemon=True)
        self.line, self.told = line, list[int]()
        self.waits, self.works, self.may_end = (threading.Event() for _ in range(3))
        self.leaves = False

    @contextmanager
    def waiting(self) -> Iterator[Show]:
        yield self.tell

    def tell(self, count: int) -> None:
        self.told.append(count)
        self.waits.set()
        if self.leaves:
            raise Gone

    def run(self) -> None:
        try:
            with self.line.turn(self.waiting):
                self.works.set()
                self.may_end.wait(LIMIT_S)
        except Gone:
            self.told.append(-1)


def started(line: WaitingLine, count: int) -> list[Run]:
    """Runs that joined one after the other."""
    runs = []
    for _ in range(count):
        run = Run(line)
        run.start()
        while not (run.works.wait(0.01) or run.waits.wait(0.01)):
            pass
        runs.append(run)
    return runs


def finish(runs: list[Run]) -> None:
    for run in runs:
        run.may_end.set()
        run.join(LIMIT_S)
        assert not run.is_alive()


def test_runs_work_in_the_order_of_arrival_and_are_told_how_many_are_before() -> None:
    line = WaitingLine(n_slots=2)
    runs = started(line, 5)
    assert [run.works.is_set() for run in runs] == [True, True, False, False, False]
    assert [run.told[0] for run in runs[2:]] == [1, 2, 3]
    assert line.n_waiting == 3
    runs[1].may_end.set()
    assert runs[2].works.wait(LIMIT_S)
    assert not runs[3].works.is_set()
    finish(runs)
    assert line.n_waiting == 0


def test_a_run_whose_tab_is_closed_leaves_the_line() -> None:
    line = WaitingLine(n_slots=1)
    first, gone, last = started(line, 3)
    gone.leaves = True
    gone.join(LIMIT_S)
    assert gone.told[-1] == -1
    assert not gone.works.is_set()
    first.may_end.set()
    assert last.works.wait(LIMIT_S)
    finish([first, last])


def test_the_line_is_bounded() -> None:
    line = WaitingLine(n_slots=1, most=2)
    runs = started(line, 3)
    with pytest.raises(AttnVizError) as caught, line.turn(runs[0].waiting):
        pass
    assert caught.value.code == "server_busy"
    finish(runs)
    with line.turn(runs[0].waiting):
        assert line.n_waiting == 0


def test_a_run_that_has_its_turn_takes_no_second_one() -> None:
    line = WaitingLine(1)
    with line.turn(nobody_waits), line.turn(nobody_waits):
        assert len(line._tickets) == 1
    with line.turn(nobody_waits):
        assert len(line._tickets) == 1, "the turn is over, and the next one is taken in the line"
    assert not line._tickets


@contextmanager
def nobody_waits() -> Iterator[Show]:
    raise AssertionError("a run waits for itself")
    yield
