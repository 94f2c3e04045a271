"""A fragment keeps the key of what it shows, and no capture, model or group of a closed view."""

import gc
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import streamlit as st

import attnviz
from attnviz.app.session.fragment import fragment
from attnviz.models.loaded_model import LoadedModel
from attnviz.pictures.group.app_capture import AppCapture, Media, PageContext
from attnviz.pictures.group.groups import groups


@pytest.fixture
def reruns(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What Streamlit keeps of each fragment that was drawn: the way to run it again."""
    kept: list[Callable[[], None]] = []

    def keep(**_options: object) -> Callable[[Callable[..., None]], Callable[..., None]]:
        def decorate(draw: Callable[..., None]) -> Callable[..., None]:
            def run(*arguments: Any, **options: Any) -> None:
                kept.append(lambda: draw(*arguments, **options))
                draw(*arguments, **options)

            return run

        return decorate

    monkeypatch.setattr(st, "fragment", keep)
    return kept


class Server:
    """Keeps one capture, as the app's cache does, and makes it again where it was let go."""

    def __init__(self, loaded: LoadedModel) -> None:
        self._loaded = loaded
        self.kept: AppCapture | None = None
        self.n_made = 0

    def captured(self) -> AppCapture:
        if self.kept is None:
            self.n_made += 1
            capture = attnviz.capture(self._loaded, "a dog")
            self.kept = AppCapture(
                "key", "tiny", self._loaded, capture, groups(capture), Media(),
                recall=self.captured,
            )  # fmt: skip
        return self.kept

    def shown(self) -> PageContext:
        captured = self.captured()
        return PageContext("en", captured, replace(captured.groups[0], window=3))


def test_a_fragment_holds_no_capture(minilm: LoadedModel, reruns: list[Callable[[], None]]) -> None:
    server, drawn = Server(minilm), []

    @fragment("x")
    def draw(shown: PageContext, page: str, *, right: PageContext | None = None) -> None:
        drawn.append((shown.key, page, right and right.key))

    draw(server.shown(), "head", right=server.shown())
    watched = weakref.ref(server.captured())
    server.kept = None
    gc.collect()
    assert watched() is None
    reruns[0]()
    assert drawn == [("key self 3", "head", "key self 3")] * 2
    assert server.n_made == 2


def test_a_file_that_is_gone_is_said(
    minilm: LoadedModel, reruns: list[Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(st, "error", said.append)
    server, drawn = Server(minilm), []

    @fragment()
    def draw(shown: PageContext) -> None:
        drawn.append(shown.key)

    captured = replace(server.captured(), recall=lambda: None)
    draw(PageContext("en", captured, captured.groups[0]))
    assert drawn == []
    assert "no longer" in said[0]
