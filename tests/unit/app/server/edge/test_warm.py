"""The first picture: computed at the start, and told of by `healthz`."""

import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from attnviz.app.server import captures, course_lessons
from attnviz.app.server.edge import health, warm
from attnviz.capture.changed import corpus
from attnviz.errors import ModelNotFound
from tests.support.server import ROOT
from tests.support.waiting import LIMIT_S, expect_true


@pytest.fixture(autouse=True)
def cold(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that was just started."""
    for name in ("_begun", "_ready"):
        monkeypatch.setattr(warm, name, threading.Event())
    monkeypatch.setattr(warm, "LISTENS_S", 0.0)
    monkeypatch.setattr(corpus, "recorded", lambda _model: None)


def test_health_is_told_once_the_first_picture_is_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked, goes_on = list[object](), threading.Event()

    def recall(source: object, request: object) -> object:
        asked.append((source, request))
        goes_on.wait(LIMIT_S)
        return SimpleNamespace(model=None)

    monkeypatch.setattr(captures, "recall", recall)
    client = TestClient(Starlette(routes=health.routes()))
    prepared = list[bool]()
    warm.begin(lambda: prepared.append(warm.is_under_way()))
    expect_true(lambda: len(asked) == 1)
    assert prepared == [True]
    answer = client.get("/healthz")
    assert (answer.status_code, answer.text) == (503, "starting\n")
    goes_on.set()
    expect_true(warm.is_ready)
    assert not warm.is_under_way()
    answer = client.get("/healthz")
    assert (answer.status_code, answer.text) == (200, "ok\n")
    assert capsys.readouterr().err.startswith("attnviz: ready after ")


@pytest.mark.parametrize(
    "error", [ModelNotFound("no such model", code="unknown_model"), ValueError("broken")]
)
def test_a_model_that_cannot_be_loaded_keeps_no_server_from_being_ready(
    error: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def recall(*_: object) -> None:
        raise error

    monkeypatch.setattr(captures, "recall", recall)
    warm.begin(lambda: None)
    expect_true(warm.is_ready)
    assert caplog.records


def test_the_first_page_of_a_server_that_begins_needs_no_torch() -> None:
    page = (
        "import sys, app; from attnviz.app.server.edge import warm; warm._begun.set();"
        " from streamlit.testing.v1 import AppTest;"
        " page = AppTest.from_file('attnviz/app/main.py', default_timeout=60).run();"
        " assert not page.exception and not page.error, page;"
        " print(*{'torch', 'transformers'} & set(sys.modules), len(page.main.children))"
    )
    command = [sys.executable, "-c", page]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded, (count,) = answer.stdout.split()[:-1], answer.stdout.split()[-1:]
    assert not loaded and int(count) > 3


def test_the_course_is_read_as_well_when_the_first_picture_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, was_ready = list[str](), list[bool]()

    def lesson(slug: str) -> None:
        asked.append(slug)
        was_ready.append(warm.is_ready())

    monkeypatch.setattr(captures, "recall", lambda *_: SimpleNamespace(model=None))
    monkeypatch.setattr(course_lessons, "lesson", lesson)
    warm.begin(lambda: None)
    expect_true(lambda: asked == [*course_lessons.slugs()])
    assert all(was_ready)
