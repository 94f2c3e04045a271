"""Runs commands in this process; models that several commands ask for are loaded once."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import attnviz
from attnviz.cli import main
from attnviz.models import loader

Report = dict[str, Any]


@pytest.fixture(autouse=True)
def load_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that follow each other share what they load."""
    monkeypatch.setattr(attnviz, "load", load_once_by_name)


@cache
def load_once_by_name(name: str, **options: str | None) -> attnviz.LoadedModel:
    return loader.load(name, **options)  # type: ignore[arg-type]


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Callable[..., Report]:
    """A function that runs `attnviz capture … --json` and returns the object it prints."""

    def run(*arguments: str, code: int = 0) -> Report:
        assert main.main(["capture", *arguments, "--json"]) == code
        parsed: Report = json.loads(capsys.readouterr().out, parse_constant=_refuse)
        return parsed

    return run


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")
