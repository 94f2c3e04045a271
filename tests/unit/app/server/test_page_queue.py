"""Pages are computed one after the other, and none holds up the others for long."""

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from attnviz.app.server import page_queue
from attnviz.app.server.page_queue import PageQueue
from tests.support.waiting import expect_true

LONG_S = 30.0  # longer than any of these tests may take


def in_line(queue: PageQueue, n_runs: int) -> None:
    """Wait until so many runs stand in the line."""
    expect_true(lambda: len(queue._waiting) == n_runs)


def test_runs_begin_in_the_order_of_arrival_and_never_two_at_once() -> None:
    queue, begun, n_at_once = PageQueue(LONG_S), list[int](), list[int]()
    running: set[int] = set()

    def run(number: int) -> None:
        with queue.turn():
            running.add(number)
            begun.append(number)
            time.sleep(0.002)
            n_at_once.append(len(running))
            running.remove(number)

    with ThreadPoolExecutor(20) as pool:
        with queue.turn():
            for number in range(20):
                pool.submit(run, number)
                in_line(queue, number + 1)
    assert begun == list(range(20))
    assert n_at_once == 20 * [1]


def test_a_run_that_waits_for_something_holds_up_the_next_for_its_turn_only() -> None:
    queue, goes_on = PageQueue(0.1), threading.Event()

    def stuck() -> None:
        with queue.turn():
            goes_on.wait(LONG_S)

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.submit(stuck), pool.submit(stuck)
        start = time.monotonic()
        with queue.turn():
            waited_s = time.monotonic() - start
        goes_on.set()
        first.result(), second.result()
    assert 0.15 < waited_s < LONG_S / 3  # a turn of each of the two before


def test_a_late_end_does_not_end_the_turn_of_another() -> None:
    queue, late_ends, begun = PageQueue(0.05), threading.Event(), threading.Event()

    def late() -> None:
        with queue.turn():
            begun.set()
            late_ends.wait(LONG_S)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(late)
        begun.wait(LONG_S)
        with queue.turn():
            queue._ends = time.monotonic() + LONG_S  # this turn does not end by itself
            third_began = threading.Event()
            third = pool.submit(_note, queue, third_began.set)
            in_line(queue, 1)
            late_ends.set()
            first.result()
            assert not third_began.wait(0.1)
        third.result()
    assert third_began.is_set()


def _note(queue: PageQueue, note: Callable[[], None]) -> None:
    with queue.turn():
        note()


def test_a_run_that_fails_gives_its_turn_back() -> None:
    queue = PageQueue(LONG_S)
    with pytest.raises(ValueError, match="broken"), queue.turn():
        raise ValueError("broken")
    start = time.monotonic()
    with queue.turn():
        assert time.monotonic() - start < LONG_S / 3


def test_one_visitor_has_one_page_at_a_time_in_the_line() -> None:
    """Five tabs of one visitor, each with a page that outlasts its turn, and one of another."""
    queue, ends = PageQueue(0.02), threading.Event()
    begun: list[str] = []

    def run(visitor: str) -> None:
        with queue.turn(visitor):
            begun.append(visitor)
            if visitor == "hostile":
                ends.wait(LONG_S)

    with ThreadPoolExecutor(6) as pool:
        runs = [pool.submit(run, "hostile") for _ in range(5)]
        expect_true(lambda: begun == ["hostile"])
        pool.submit(run, "other").result(LONG_S)
        assert begun == ["hostile", "other"], "the other tabs wait for the first"
        ends.set()
        for hostile in runs:
            hostile.result(LONG_S)
    assert begun == ["hostile", "other", *["hostile"] * 4] and not queue._visitors


def test_a_page_that_waits_for_long_lets_the_visitors_next_one_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_queue, "PATIENCE_S", 0.05)
    queue, ends, begun = PageQueue(0.02), threading.Event(), list[int]()

    def run(number: int) -> None:
        with queue.turn("ann"):
            begun.append(number)
            ends.wait(LONG_S)

    with ThreadPoolExecutor(3) as pool:
        for number in range(3):
            pool.submit(run, number)
        expect_true(lambda: len(begun) == 3)
        ends.set()


def test_a_school_behind_one_address_has_more_pages_in_the_line() -> None:
    queue, ends, begun = PageQueue(0.01), threading.Event(), list[int]()

    def run(number: int) -> None:
        with queue.turn("school"):
            begun.append(number)
            ends.wait(LONG_S)

    n_runs = 3 * page_queue.TABS
    with ThreadPoolExecutor(n_runs) as pool:
        for number in range(n_runs):
            pool.submit(run, number)
        expect_true(lambda: len(begun) == 4)
        ends.set()
    assert sorted(begun) == list(range(n_runs))


def test_the_busy_share_follows_the_runs_of_the_last_half_minute() -> None:
    now = [0.0]
    queue = PageQueue(clock=lambda: now[0])
    assert queue.busy_share == 0
    with queue.turn():
        now[0] = page_queue.RECENT_S
        assert queue.busy_share == pytest.approx(1 - math.exp(-1))
        assert (queue.n_runs, queue.wait_for_none(0)) == (1, False)
    assert (queue.n_runs, queue.wait_for_none(0)) == (0, True)
    now[0] *= 2
    assert queue.busy_share == pytest.approx((1 - math.exp(-1)) * math.exp(-1))
