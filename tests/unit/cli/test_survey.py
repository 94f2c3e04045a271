"""`attnviz survey`: what the library says, as a list, and as a file."""

import csv
import json
from pathlib import Path

import pytest

import attnviz
from attnviz.cli import main

TEXTS = [
    f"{name} gave the red ball to Tom. Then Tom was happy." for name in ("Lily", "Mary", "Ben")
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS), encoding="utf-8")
    return path


def test_the_heads_and_files_are_those_of_the_library(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = file.with_suffix(".npz")
    line = ["survey", str(file), "--model", "stories"]
    assert main.main([*line, "--top", "16", "--json", "--out", str(out)]) == 0
    rows = json.loads(capsys.readouterr().out)["heads"]
    survey = attnviz.survey("stories", TEXTS)
    table = survey.table().sort("previous")
    assert [row["head"] for row in rows] == list(map(str, table.heads))
    assert [row["low"] for row in rows] == pytest.approx(table["previous_low"].tolist())
    assert rows[0]["roles"].startswith("previous")
    again = attnviz.read(out)
    assert again.heads == survey.heads and repr(again) == repr(survey)
    assert again.pairs("L2.H1") == survey.pairs("L2.H1")
    sheet, document = file.with_suffix(".csv"), file.with_suffix(".json")
    for path in (sheet, document):
        attnviz.save(survey, path)
    with sheet.open(encoding="utf-8") as lines:
        read = list(csv.DictReader(lines))
    assert [float(row["peak"]) for row in read] == pytest.approx(survey.table()["peak"].tolist())
    assert {row["next"] for row in read} == {""}, "no query of a decoder sees the next token"
    assert json.loads(document.read_text())["heads"][0]["next"] is None


def test_one_head_is_told_by_its_tokens(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["survey", str(file), "--model", "stories", "--head", "L0.H1", "--top", "3"]
    assert main.main(line) == 0
    text = capsys.readouterr().out
    assert "keys:" in text and "pairs:" in text and text.startswith("Survey of stories: 16 heads")


def test_what_cannot_be_done_is_said_in_one_line(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for options, words in (
        (["--by", "speed"], "--by is one of previous"),
        (["--top", "0"], "--top is a number"),
        (["--part", "9/8", "--folder", str(file.parent / "f")], "part is '9/8'"),
        (["--out", "x.docx"], "cannot be saved as '.docx'"),
        (["--engine", "ray"], "that of a cluster"),
        (["--engine", "ray", "--address", "local"], "pip install 'attnviz[jobs]'"),
        (["--head", "L9.H9"], "no head L9.H9"),
    ):
        assert main.main(["survey", str(file), "--model", "stories", *options]) == main.FAILED
        assert words in capsys.readouterr().err
    attnviz_survey = attnviz.survey("stories", TEXTS[:1])
    with pytest.raises(
        attnviz.BadInput, match="width_in= means nothing for a .csv file of a survey"
    ):
        attnviz.save(attnviz_survey, file.with_suffix(".csv"), width_in=3.0)
    with pytest.raises(attnviz.BadInput, match="measure is 'speed'"):
        attnviz.save(attnviz_survey, file.with_suffix(".svg"), measures=("speed", "peak"))  # type: ignore[arg-type]
    with pytest.raises(attnviz.BadInput, match="give two"):
        attnviz.save(attnviz_survey, file.with_suffix(".svg"), measures=("peak",))  # type: ignore[arg-type]
    with pytest.raises(attnviz.BadInput, match="cannot be read as a capture"):
        attnviz.read(file)
