"""Trainings beside the page: they grow, end, are stopped, and fail with their reason."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from attnviz.errors import Cancelled
from attnviz.ui.server.trainings import Training, start

LIMIT_S = 10.0


class Snap:
    def __init__(self, step: int) -> None:
        self.step = step


def wait(training: Training) -> None:
    done = threading.Event()
    for _ in range(int(LIMIT_S / 0.01)):
        if training.over:
            return
        done.wait(0.01)
    pytest.fail(f"the training is still {training.state}")


def test_snapshots_come_one_by_one_until_it_is_done() -> None:
    gate = threading.Event()

    def train(_cancel: threading.Event) -> Iterator[Any]:
        yield Snap(0)
        yield Snap(10)
        gate.wait(LIMIT_S)
        yield Snap(40)

    training = start(0, 40, train)
    for _ in range(1000):
        if len(training.snapshots) == 2:
            break
        threading.Event().wait(0.01)
    assert (training.state, training.fraction) == ("running", 0.25)
    gate.set()
    wait(training)
    assert (training.state, training.fraction) == ("done", 1.0)


def test_one_runs_and_the_other_waits_until_the_first_is_stopped() -> None:
    def endless(cancel: threading.Event) -> Iterator[Any]:
        yield Snap(0)
        cancel.wait(LIMIT_S)
        raise Cancelled("stopped", code="cancelled")

    def short(_cancel: threading.Event) -> Iterator[Any]:
        yield Snap(1)

    first, second = start(0, 1, endless), start(1, 1, short)
    third = start(2, 1, short)
    third.stop()
    assert second.state == "waiting" and third.state == "stopped"
    first.stop()
    wait(first)
    wait(second)
    assert (first.state, second.state) == ("stopped", "done")
    assert not third.snapshots


def test_a_failure_is_kept_for_whoever_watches() -> None:
    def broken(_cancel: threading.Event) -> Iterator[Any]:
        raise ValueError("no such thing")
        yield

    training = start(0, 1, broken)
    wait(training)
    assert training.state == "failed" and str(training.error) == "no such thing"
