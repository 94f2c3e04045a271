"""A visitor's model waits for its turn and says so; the app's own models do not wait."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz import i18n
from attnviz.app.server import loading, turns
from attnviz.app.server.turns import WaitingLine
from attnviz.app.session import messages
from tests.pages.conftest import Visit

LIMIT_S = 50


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> WaitingLine:
    line = WaitingLine(n_slots=1)
    monkeypatch.setattr(turns, "line", line)
    return line


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The infos of the page, as it shows them."""
    said: list[str] = []
    info = DeltaGenerator.info

    def heard(self: DeltaGenerator, body: str, **options: Any) -> object:
        said.append(body)
        return info(self, body, **options)

    monkeypatch.setattr(DeltaGenerator, "info", heard)
    return said


@pytest.fixture
def spun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words of the page's spinners."""
    said: list[str] = []

    def spinner(words: str, **_options: object) -> AbstractContextManager[None]:
        said.append(words)
        return nullcontext()

    monkeypatch.setattr(st, "spinner", spinner)
    return said


def test_a_page_says_how_many_are_before_it(
    visit: Visit, tiny: Callable[[str], str], line: WaitingLine, said: list[str]
) -> None:
    gone = threading.Event()

    def hold() -> None:
        with line.turn(lambda: nullcontext(lambda _count: None)):
            gone.wait(LIMIT_S)

    holder = threading.Thread(target=hold, daemon=True)
    holder.start()

    def let_go() -> None:
        while not said:
            gone.wait(0.01)
        gone.set()

    threading.Thread(target=let_go, daemon=True).start()
    app = visit("head", model=tiny("bert"), text="the cat waits here")
    assert said[0] == "The server is busy: 1 run is before yours."
    assert not app.info
    assert not app.exception
    holder.join(LIMIT_S)
    assert line.n_waiting == 0


def test_an_own_model_and_what_is_in_memory_wait_for_nobody(
    visit: Visit, tiny: Callable[[str], str], line: WaitingLine
) -> None:
    visit("head", model=tiny("bert"), text="the cat is known")
    with line.turn(lambda: nullcontext(lambda _count: None)):
        assert not visit("head", model=tiny("bert"), text="the cat is known").exception
        assert not visit("head", text="a text that nobody asked for").exception


def test_the_first_visitor_of_a_new_server_reads_which_model_is_loading(
    visit: Visit, spun: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = i18n.text("en", "wait.model", model=messages.plain("MiniLM (encoder)"))
    loading.import_libraries()
    assert loading.are_imported()
    visit("steps", text="Hi.")
    later = spun.count(wanted)  # where the model itself is loaded
    spun.clear()
    monkeypatch.setattr(loading, "are_imported", lambda: False)
    visit("steps", text="Hi.")
    assert spun[0] == wanted and spun.count(wanted) == later + 1


@pytest.mark.slow
def test_a_pass_that_is_over_before_a_spinner_shows_has_none(
    visit: Visit, tiny: Callable[[str], str], spun: list[str]
) -> None:
    long = "the cat sleeps on the mat and the dog sleeps by the door while it rains " * 8
    texts = ["A short text.", long]
    models = ["minilm", tiny("bert")]
    wanted = [i18n.text("en", "wait.capture", characters=len(each.strip())) for each in texts]
    for model in models:
        for each in texts:
            assert not visit("head", model=model, text=each.strip()).exception
    assert [spun.count(words) for words in wanted] == [1, 2]
