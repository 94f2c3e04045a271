"""`Training`: its job adds snapshots one by one, until it is done, stopped or failed."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from attnviz.app.server.trainings import Training, start
from attnviz.errors import AttnVizError, Cancelled
from tests.support.waiting import LIMIT_S


class Snap:
    def __init__(self, step: int) -> None:
        self.step = step


def over(training: Training) -> Training:
    training.job.wait(LIMIT_S)
    assert training.job.over
    return training


def test_snapshots_come_one_by_one_until_it_is_done() -> None:
    second, gate = threading.Event(), threading.Event()

    def train(_cancel: threading.Event) -> Iterator[Any]:
        yield Snap(0)
        yield Snap(10)
        second.set()
        gate.wait(LIMIT_S)
        yield Snap(40)

    training = start(0, 40, train)
    assert second.wait(LIMIT_S)
    assert (training.job.state, training.job.fraction) == ("running", 0.25)
    assert [snapshot.step for snapshot in training.snapshots] == [0, 10]
    gate.set()
    assert (over(training).job.state, training.job.fraction) == ("done", 1.0)
    assert [snapshot.step for snapshot in training.snapshots] == [0, 10, 40]


def test_a_stopped_training_keeps_its_snapshots() -> None:
    first = threading.Event()

    def endless(cancel: threading.Event) -> Iterator[Any]:
        yield Snap(0)
        first.set()
        cancel.wait(LIMIT_S)
        raise Cancelled("stopped", code="cancelled")

    training = start(0, 1, endless)
    assert first.wait(LIMIT_S)
    training.job.stop()
    assert over(training).job.state == "stopped"
    assert [snapshot.step for snapshot in training.snapshots] == [0]


def test_a_failure_is_kept_for_whoever_watches() -> None:
    def broken(_cancel: threading.Event) -> Iterator[Any]:
        raise ValueError("no such thing")
        yield

    training = over(start(0, 1, broken))
    assert training.job.state == "failed"
    with pytest.raises(AttnVizError, match="went wrong inside attnviz"):
        training.job.raise_error()
