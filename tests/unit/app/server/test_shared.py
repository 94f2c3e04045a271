"""`shared`: one computation for a key, a bound, keys that tell values apart, results that go."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pytest
from PIL import Image

from attnviz.app.server import shared as module
from attnviz.app.server.shared import MAX_KEY_CHARS, Shared, key_part, shared
from attnviz.changes.make import cut
from tests.support.waiting import LIMIT_S


@dataclass(frozen=True)
class Source:
    name: str
    stamp: str = ""


class Named:
    key = "minilm@1"


def test_a_result_is_computed_once_for_its_arguments() -> None:
    computed: list[tuple[str, int]] = []

    @shared(most=5)
    def repeat(text: str, n_times: int = 2) -> str:
        computed.append((text, n_times))
        return text * n_times

    assert repeat("a") == repeat("a", 2) == repeat(n_times=2, text="a") == "aa"
    assert repeat("a", 3) == "aaa"
    assert computed == [("a", 2), ("a", 3)]
    repeat.forget("a")
    assert repeat("a") == "aa" and len(computed) == 3
    repeat.clear()
    assert repeat("a", 3) == "aaa" and len(computed) == 4


def test_the_result_that_was_asked_for_longest_ago_goes_first() -> None:
    gone: list[str] = []

    @shared(most=3, on_release=gone.append)
    def shout(text: str) -> str:
        return text.upper()

    for text in "abcad":
        shout(text)
    assert gone == ["B"]
    shout.forget("a")
    shout.forget("never asked for")
    assert gone == ["B", "A"]
    shout.clear()
    assert sorted(gone) == ["A", "B", "C", "D"]


def test_no_key_names_the_means_to_compute() -> None:
    @shared(most=2)
    def built(key: str, _build: object) -> object:
        return _build

    assert built("a", 1) == built("a", 2) == 1 and built("b", 2) == 2
    built.forget("a")
    assert built("a", 3) == 3


def test_an_error_is_raised_and_not_kept() -> None:
    n_called = 0

    @shared(most=2)
    def failing(text: str) -> str:
        nonlocal n_called
        n_called += 1
        if n_called == 1:
            raise ValueError(text)
        return text

    with pytest.raises(ValueError, match="cat"):
        failing("cat")
    assert failing("cat") == "cat"


def test_visitors_who_ask_for_the_same_at_once_compute_it_once() -> None:
    begun, go_on, computed = threading.Event(), threading.Event(), list[str]()

    @shared(most=3)
    def shout(text: str) -> str:
        computed.append(text)
        if text == "cat":
            begun.set()
            assert go_on.wait(LIMIT_S)
        return text.upper()

    with ThreadPoolExecutor(4) as visitors:
        first = visitors.submit(shout, "cat")
        assert begun.wait(LIMIT_S)
        others = [visitors.submit(shout, "cat") for _ in range(3)]
        assert shout("dog") == "DOG"  # nobody else waits
        go_on.set()
        assert [run.result() for run in (first, *others)] == ["CAT"] * 4
    assert computed == ["cat", "dog"]


def test_a_key_that_was_computed_leaves_no_lock() -> None:
    @shared(most=3)
    def length(text: str) -> int:
        return len(text)

    assert isinstance(length, Shared)
    for number in range(50):
        assert length("x" * number) == number
    assert len(length._turns) == 0 and len(length._kept) == 3


def test_results_that_hold_a_model_go_with_it() -> None:
    computed: list[str] = []

    def capture(text: str) -> str:
        computed.append(text)
        return text

    captured, measured = shared(most=3, holds_model=True)(capture), shared(most=3)(capture)
    for _ in range(2):
        captured("cat"), measured("cat")
    assert len(computed) == 2
    module.forget_of_models(object())
    captured("cat"), measured("cat")
    assert len(computed) == 3
    module.clear_all()
    captured("cat"), measured("cat")
    assert len(computed) == 5


def test_a_long_key_becomes_a_digest_of_its_own() -> None:
    @shared(most=3)
    def length(text: str) -> int:
        return len(text)

    long = "a" * MAX_KEY_CHARS
    assert length.key("as it is") == "text='as it is'"
    assert len(length.key(long)) == 64
    assert length.key(long) != length.key(long[:-1] + "b")


def test_equal_values_have_equal_key_parts_and_others_other_ones() -> None:
    black, white = np.zeros((3, 5), np.uint8), np.ones((3, 5), np.uint8)
    values: list[object] = [
        *(None, True, 1, 1.0, "1", "None", (1, 2), ((1,), 2), {"a": 1}, {"a": 1, "b": None}),
        *(black, white, black.reshape(5, 3), black.astype(np.int8), [black, "a"]),
        *(Image.fromarray(black), Image.fromarray(white), Named(), Source("a"), Source("a", "b")),
        *(cut("L0.H0", 1, 2), cut("L0.H0", 3, 2), cut("L0.H1", 1, 2), cut("L0.H0", key=2)),
    ]
    parts = [key_part(value) for value in values]
    assert len(set(parts)) == len(values)
    assert key_part(black) == key_part(black.copy())
    assert key_part({"b": 1, "a": 2}) == key_part({"a": 2, "b": 1})
    assert key_part(["a", "b"]) == key_part(("a", "b"))
    assert "minilm@1" in key_part(Named())


@dataclass
class Begun:
    job: threading.Event = field(default_factory=threading.Event)


@pytest.mark.parametrize("value", [object(), len, {1, 2}, Begun()])
def test_what_cannot_be_told_apart_is_in_no_key(value: object) -> None:
    with pytest.raises(TypeError, match="cannot be part of a key"):
        key_part(value)
