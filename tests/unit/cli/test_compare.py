"""`attnviz compare` and `attnviz effects`: what the library says, as a list."""

import json
from pathlib import Path

import numpy as np
import pytest

import attnviz
from attnviz.cli import main

A, B = "it was too tired", "it was too wide"
STORY = "Lily gave the red ball to Tom. Tom gave the red"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main.main(list(arguments)) == 0
    return capsys.readouterr().out


def test_the_heads_that_differ_most_come_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    heads = json.loads(printed(capsys, "compare", A, B, "--json", "--top", "72"))
    a, b = (attnviz.capture("minilm", text) for text in (A, B))
    axis = attnviz.compare.pair(a.tokens, b.tokens, same_vocabulary=True).slots
    moved = attnviz.compare.moved_by_head(a.all_weights(), b.all_weights(), axis, axis)
    expected = attnviz.compare.mean_moved(moved)
    values = [row["moved"] for row in heads]
    assert values == sorted(values, reverse=True)
    np.testing.assert_array_equal(np.float32(values), -np.sort(-expected.ravel()))
    files = [attnviz.save(cap, tmp_path / f"{n}.safetensors") for n, cap in enumerate((a, b))]
    figure = tmp_path / "x.svg"
    text = printed(capsys, "compare", *map(str, files), "--out", str(figure))
    assert text.splitlines()[1].split() == [heads[0]["head"], f"{values[0]:.3f}"]
    assert len(text.splitlines()) == 9 and figure.read_text().startswith("<svg")


def test_captures_of_two_models_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = attnviz.save(attnviz.capture("stories", STORY), tmp_path / "x.safetensors")
    assert main.main(["compare", A, str(file)]) == main.FAILED
    assert "of one model" in capsys.readouterr().err


def test_effects_are_those_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["effects", STORY, "--next", " ball", "--to", "zero"]
    report = json.loads(printed(capsys, *line, "--json"))
    lm = attnviz.load("stories")
    expected = attnviz.experiment(lm, STORY, on=attnviz.NextToken(" ball")).effects(to="zero")
    assert report["before"] == pytest.approx(expected.before)
    assert [row["head"] for row in report["heads"]] == [str(head) for head in expected.order]
    changes = [row["change"] for row in report["heads"]]
    assert changes == pytest.approx([expected.of(head) for head in expected.order], abs=1e-5)
    text = printed(capsys, *line, "--top", "2").splitlines()
    assert len(text) == 4 and text[2].split()[0] == report["heads"][0]["head"]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["compare", A, B, "--top", "0"], "--top"),
        (["effects", STORY, "--next", " ball", "--top", "0"], "--top"),
        (["effects", STORY, "--next", "two words here"], "token"),
        (["effects", STORY, "--next", " ball", "--to", "one"], "zero"),
    ],
)
def test_what_makes_no_sense_is_refused(
    arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(arguments) == main.FAILED
    err = capsys.readouterr().err
    assert part in err and err.count("\n") == 1
