"""Waiting for what is about to be true: a check is made again until it holds.

A browser draws, a server answers and a thread computes when they can, on a busy machine seconds
later. So what a test reads after an action it reads again until it is right; a right answer ends
the wait at once, and the limit is only for a wrong one. `tests/contracts/test_waiting.py` refuses
an assertion in a browser test that reads the page once.
"""

import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Locator

Read = TypeVar("Read")

LIMIT_S = 60.0
LIMIT_MS = 1000 * LIMIT_S
POLL_S = 0.02
REST_S = 0.3
# of a check that reads a page in the middle of a change: a value is wrong, missing or half there
NOT_YET = (AssertionError, LookupError, ValueError)


def eventually(check: Callable[[], object], limit_s: float = LIMIT_S) -> None:
    """Make a check until it raises nothing; after the limit its own error says what is wrong.

    A check must read anew each time, by calls to the page or to an object that a thread changes.
    The record of messages is none: it grows in calls to the page alone (see `Visit.wait_until`).
    """
    deadline = time.monotonic() + limit_s
    while True:
        try:
            check()
        except NOT_YET:
            if time.monotonic() > deadline:
                raise
            time.sleep(POLL_S)
        else:
            return


def expect_equal(read: Callable[[], object], wanted: object, limit_s: float = LIMIT_S) -> None:
    """Wait until what is read equals what is wanted, which may be a `pytest.approx`."""

    def check() -> None:
        found = read()
        assert found == wanted, f"{found!r} instead of {wanted!r}"

    eventually(check, limit_s)


def expect_true(holds: Callable[[], object], limit_s: float = LIMIT_S) -> None:
    """Wait until something holds."""

    def check() -> None:
        assert holds()

    eventually(check, limit_s)


def at_rest(read: Callable[[], Read]) -> Read:
    """What is read, once it has stayed the same over REST_S: a box that moved, a film that ran."""
    found, since = read(), time.monotonic()
    deadline = since + LIMIT_S
    while time.monotonic() < since + REST_S:
        time.sleep(POLL_S)
        before, found = found, read()
        if found != before:
            assert time.monotonic() < deadline, f"this does not come to rest: {found}"
            since = time.monotonic()
    return found


def number(text: str) -> float:
    """The number in a printed text: true minus signs, thin spaces, scientific notation."""
    plain = text.replace("−", "-").replace("\u00a0", " ").replace("∞", "inf")
    found = re.search(r"-?(inf|\d[\d.]*(e-?\d+)?)", plain)
    assert found, text
    return float(found[0])


def expect_number(locator: "Locator", wanted: float, **tolerance: float) -> None:
    """Wait until an element says this number; `abs` or `rel` as for `pytest.approx`."""
    expect_equal(lambda: number(locator.inner_text()), pytest.approx(wanted, **tolerance))


def expect_numbers(locator: "Locator", wanted: Sequence[float], **tolerance: float) -> None:
    """Wait until the elements that a locator finds say these numbers, one each."""
    expect_equal(
        lambda: [number(text) for text in locator.all_inner_texts()],
        pytest.approx(list(wanted), **tolerance),
    )
