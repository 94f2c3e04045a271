"""`attnviz models`: the registry as a table."""

import json
from dataclasses import asdict

import pytest

import attnviz
from attnviz.cli import main


def test_run_lists_the_registry(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["models"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ["name", "kind", "layers", "heads"]
    assert rows[0].split()[:4] == ["minilm", "encoder", "6", "12"]
    assert [row.split()[0] for row in rows] == [card.name for card in attnviz.models()]


def test_json_has_every_detail(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["models", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [asdict(card) for card in attnviz.models()]
