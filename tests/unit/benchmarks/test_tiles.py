"""The benchmark of long texts runs, is right, and says so when a result is wrong."""

import json

import pytest

import attnviz
from attnviz import tiles
from benchmarks import tiles as benchmark

LENGTH = 700


def test_a_short_run_is_right_and_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark.main(["--lengths", str(LENGTH), "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    names = [result["name"] for result in results]
    assert sum("pyramid of one head" in name for name in names) == 1
    assert sum("one tile" in name for name in names) == 2
    assert {result["ok"] for result in results} <= {"yes", "-", "SLOW"}


def test_wrong_weights_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = attnviz.load(benchmark.small_model(LENGTH))
    original = tiles.Pyramid.weights
    monkeypatch.setattr(
        tiles.Pyramid, "weights", lambda self, rows, keys: original(self, rows, keys) * 0.999
    )
    wrong = {result.name: result.wrong for result in benchmark.measure(lm, LENGTH)}
    assert [name for name, problem in wrong.items() if problem and "pyramid of" in name]
    assert [name for name, problem in wrong.items() if problem and "strongest" in name]
