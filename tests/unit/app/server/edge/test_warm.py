"""The first picture: computed at the start, and told of by `healthz`."""

import threading

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from attnviz.app.server import captures
from attnviz.app.server.edge import health, warm
from attnviz.errors import ModelNotFound
from tests.support.waiting import LIMIT_S, expect_true


@pytest.fixture(autouse=True)
def cold(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that was just started."""
    monkeypatch.setattr(warm, "_ready", threading.Event())


def test_health_is_told_once_the_first_picture_is_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked, goes_on = list[object](), threading.Event()

    def recall(source: object, request: object) -> None:
        asked.append((source, request))
        goes_on.wait(LIMIT_S)

    monkeypatch.setattr(captures, "recall", recall)
    client = TestClient(Starlette(routes=health.routes()))
    warm.begin()
    expect_true(lambda: len(asked) == 1)
    answer = client.get("/healthz")
    assert (answer.status_code, answer.text) == (503, "starting\n")
    goes_on.set()
    expect_true(warm.is_ready)
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
    warm.begin()
    expect_true(warm.is_ready)
    assert caplog.records
