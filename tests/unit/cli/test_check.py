"""`attnviz check`: figures as lines or JSON, and the exit code that says whether they hold."""

import json

import pytest

from attnviz import checks
from attnviz.checks.cards import Figure
from attnviz.cli import main

FIGURES = (Figure("dates read exactly", 0.99, 0.98, cases=500), Figure("errors", 0.2, 0.1, False))


@pytest.mark.parametrize(("figures", "code"), [(FIGURES[:1], 0), (FIGURES, 1)])
def test_json_has_each_figure_and_its_verdict(
    figures: tuple[Figure, ...],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(checks, "check", lambda _name: figures)
    assert main.main(["check", "dates"]) == code
    lines = capsys.readouterr().out.splitlines()
    assert lines == [str(figure) for figure in figures]
    assert main.main(["check", "dates", "--json"]) == code
    report = json.loads(capsys.readouterr().out)
    assert [row["reached"] for row in report] == [True, False][: len(figures)]
    assert report[0]["name"] == "dates read exactly" and report[0]["value"] == 0.99
