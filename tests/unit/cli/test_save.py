"""`attnviz save`, `--out` and `--from`: captures, numbers and figures as files, and back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attnviz
from attnviz.cli import main

TEXT = "The cat sat"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cap = attnviz.capture("minilm", TEXT)
    return attnviz.save(cap, tmp_path_factory.mktemp("saved") / "cat.safetensors")


def test_a_capture_is_saved_and_read_again(
    tmp_path: Path, report: Callable[..., dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.safetensors"
    assert main.main(["save", TEXT, "-o", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}: {file.stat().st_size:,} bytes\n"
    again, direct = report("--from", str(file), "--layer", "2"), report(TEXT, "--layer", "2")
    assert again["weights"] == direct["weights"] and again["tokens"] == direct["tokens"]
    assert again["verify"]["ok"] is True


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("name", "options", "begin"),
    [
        ("x.svg", ["--head", "L5.H11", "--title", "T", "--width", "4"], b"<svg"),
        ("x.pdf", ["--head", "L5.H11", "--view", "lines"], b"%PDF"),
        ("x.csv", ["--least", "0.5"], "\ufefflayer,head".encode()),
        ("x.json", ["--head", "L0.H0"], b'{"format"'),
        ("x.npz", ["--half"], b"PK"),
        ("x.html", ["--heads", "L5.H11", "--lang", "zh"], b"<!doctype html>"),
        ("x.safetensors", ["--half"], b""),
    ],
)
def test_the_ending_says_what_is_written(
    saved: Path, tmp_path: Path, name: str, options: list[str], begin: bytes
) -> None:
    assert main.main(["save", "--from", str(saved), "-o", str(tmp_path / name), *options]) == 0
    assert (tmp_path / name).read_bytes().startswith(begin)


def test_the_weights_in_an_archive_are_those_of_the_model(saved: Path, tmp_path: Path) -> None:
    assert main.main(["save", "--from", str(saved), "-o", str(tmp_path / "x.npz")]) == 0
    stored = np.load(tmp_path / "x.npz", allow_pickle=False)["weights"]
    np.testing.assert_array_equal(stored, attnviz.capture("minilm", TEXT).all_weights())


def test_an_existing_file_is_kept_unless_told_otherwise(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.csv"
    file.write_text("mine")
    for command in ("save", "capture"):
        line = [command, "--from", str(saved), "--out", str(file)]
        assert main.main(line) == main.FAILED
        assert "--overwrite" in capsys.readouterr().err and file.read_text() == "mine"
        assert main.main([*line, "--overwrite"]) == 0
        assert file.stat().st_size > 100
        file.write_text("mine")


def test_json_says_what_was_written(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.svg"
    assert main.main(["save", "--from", str(saved), "-o", str(file), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written == {"file": str(file), "bytes": file.stat().st_size, "ok": True}


def test_capture_saves_the_head_that_it_prints(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "head.csv"
    place = ["--layer", "2", "--head", "11"]
    assert main.main(["capture", "--from", str(saved), *place, "--out", str(file)]) == 0
    assert "weights of L2.H11" in capsys.readouterr().out
    rows = file.read_text(encoding="utf-8-sig").splitlines()
    values = np.array([row.split(",")[1:] for row in rows[1:]], dtype=np.float32)
    np.testing.assert_array_equal(values, attnviz.read(saved).weights("L2.H11"))


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        (["-o", "x.docx"], "give one of .safetensors"),
        (["-o", "x.csv", "--width", "3"], "--width means nothing for a .csv file"),
        (["-o", "x.svg", "--head", "L9.H0"], "layer 9"),
        (["-o", "x.svg", "--view", "bars"], "heads, head, lines"),
        (["-o", "gone/x.svg"], "a folder that exists"),
        (["-o", "x.svg", "--model", "minilm"], "leave --model out"),
        (["a text", "-o", "x.svg"], "leave a text out"),
        (["-o", "x.svg", "--cut"], "leave --cut out"),
    ],
)
def test_a_refusal_speaks_of_options(
    saved: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    advice: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main.main(["save", "--from", str(saved), *options]) == main.FAILED
    err = capsys.readouterr().err
    assert advice in err and err.count("\n") == 1 and "()" not in err
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_capture_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.safetensors").write_text("just a text")
    for name in ("x.safetensors", "gone.safetensors"):
        assert main.main(["capture", "--from", str(tmp_path / name)]) == main.FAILED
        assert name in capsys.readouterr().err
