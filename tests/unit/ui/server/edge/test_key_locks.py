"""Locks of a cache's keys: one for all who compute a key at once, none for a key of before."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import streamlit as st
from streamlit.runtime.caching.cache_utils import Cache

from attnviz.ui.server.edge import key_locks
from tests.support.server import ROOT
from tests.support.waiting import LIMIT_S

MOST = 3


@pytest.fixture(params=[st.cache_resource, st.cache_data], ids=["resource", "data"])
def cached(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Any]]:
    """The decorator of a cache as a server of ours has it."""
    monkeypatch.setattr(Cache, key_locks.MAKE, Cache.__init__)
    key_locks.keep_few()
    made: list[Any] = []

    def decorator(function: Callable[..., Any]) -> Any:
        made.append(request.param(max_entries=MOST, show_spinner=False)(function))
        return made[-1]

    yield decorator
    for function in made:
        function.clear()


def locks_of(function: Any) -> Any:
    """The locks that the cache of a function holds; Streamlit makes it at the first call."""
    cache = function._info.get_function_cache(function._function_key)
    return getattr(cache, key_locks.LOCKS)


def test_a_key_that_was_computed_leaves_no_lock(cached: Callable[..., Any]) -> None:
    @cached
    def length(text: str) -> int:
        return len(text)

    for number in range(50):
        assert length("x" * number) == number
    assert len(locks_of(length)) == 0


def test_visitors_who_ask_for_the_same_at_once_compute_it_once(cached: Callable[..., Any]) -> None:
    begun, go_on, computed = threading.Event(), threading.Event(), list[str]()

    @cached
    def shout(text: str) -> str:
        computed.append(text)
        begun.set()
        assert go_on.wait(LIMIT_S)
        return text.upper()

    with ThreadPoolExecutor(4) as visitors:
        first = visitors.submit(shout, "cat")
        assert begun.wait(LIMIT_S)
        others = [visitors.submit(shout, "cat") for _ in range(3)]
        assert len(locks_of(shout)) == 1
        go_on.set()
        assert [run.result() for run in (first, *others)] == ["CAT"] * 4
    assert computed == ["cat"] and len(locks_of(shout)) == 0


def test_a_lock_is_the_same_for_as_long_as_one_has_it() -> None:
    locks = key_locks.KeyLocks()
    held = locks["cat"]
    assert locks["cat"] is held is not locks["dog"]
    assert list(locks) == ["cat"]
    del held
    assert not len(locks)


def test_the_launcher_has_such_locks_in_every_cache() -> None:
    asked = "import app; from streamlit.runtime.caching.cache_utils import Cache as c; "
    command = [sys.executable, "-c", asked + "print(c.__init__.__module__)"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert answer.stdout.split() == [key_locks.__name__]
