"""`attnviz capture`: what it prints as text and as JSON, and what it says of its numbers."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import attnviz
from attnviz.attention.verification import Comparison, Verification
from attnviz.cli import main

TEXT = "The cat sat"
TOKENS = ["[CLS]", "The", "cat", "sat", "[SEP]"]
TRANSLATION = (
    *("I like red cars.", "--model", "translator", "--target", "j' aime les voitures"),
    *("--stack", "decoder", "--kind", "cross", "--layer", "1"),
)
STORY = ("Lily gave the red ball to", "--model", "stories")

Report = Callable[..., dict[str, Any]]


def lines(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> list[str]:
    """What `attnviz capture` prints."""
    assert main.main(["capture", *arguments]) == code
    return capsys.readouterr().out.splitlines()


# --- text --------------------------------------------------------------------------------------


def test_run_prints_tokens_weights_and_the_check(capsys: pytest.CaptureFixture[str]) -> None:
    printed = lines(capsys, TEXT, "--layer", "2", "--head", "11")
    assert printed[0] == "minilm: 5 tokens, 6 layers, 12 heads"
    assert printed[1].split()[1:] == TOKENS
    assert "L2.H11" in printed[3]
    assert printed[4].split() == TOKENS
    for line in printed[5:10]:
        assert sum(map(float, line.split()[1:])) == pytest.approx(1.0, abs=0.03)
    assert printed[-1].startswith("verified: max |ours - model| = ")


def test_run_prints_a_table_for_each_of_all_heads(capsys: pytest.CaptureFixture[str]) -> None:
    printed = lines(capsys, TEXT, "--layer", "2", "--head", "all")
    titles = [line.split()[2] for line in printed if line.startswith("weights of")]
    assert titles == [f"L2.H{head}:" for head in range(12)]
    one = lines(capsys, TEXT, "--layer", "2", "--head", "7")[3:10]
    start = printed.index(one[0])
    assert printed[start : start + 7] == one


def test_a_long_text_lists_the_strongest_keys(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    )
    printed = lines(capsys, words, "--layer", "0", "--head", "2")
    assert printed[4].split() == ["query", "key", "1", "key", "2", "key", "3"]
    row = next(line for line in printed[5:] if line.startswith("three")).split()
    assert row[1] == "two"  # L0.H2 looks at the previous token
    weights = [float(part) for part in row[2::2]]
    assert weights == sorted(weights, reverse=True)


# --- JSON --------------------------------------------------------------------------------------


def test_json_has_every_weight_of_a_head(report: Report) -> None:
    printed = report(TEXT)
    assert printed["tokens"] == printed["key_tokens"] == TOKENS
    assert (printed["model"], printed["layer"], printed["head"]) == ("minilm", 0, 0)
    assert [sum(row) for row in printed["weights"]] == pytest.approx([1.0] * len(TOKENS))
    assert printed["verify"]["ok"] is True


def test_json_has_the_weights_of_all_heads(report: Report) -> None:
    printed = report(TEXT, "--layer", "2", "--head", "all")
    assert printed["head"] == "all"
    assert len(printed["weights"]) == 12
    assert printed["weights"][7] == report(TEXT, "--layer", "2", "--head", "7")["weights"]


def test_other_numbers_have_another_tolerance(report: Report) -> None:
    assert report(TEXT, "--dtype", "bfloat16")["verify"]["worst"]["tolerance"] >= 1e-3


# --- what is not reliable ----------------------------------------------------------------------


@pytest.fixture(params=[2e-4, float("nan")])
def unreliable(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> float:
    """The error that every capture now has."""
    verification = Verification((Comparison("attention#0", "mixed", request.param, 1e-4),))
    monkeypatch.setattr(attnviz.Capture, "verify", lambda _capture: verification)
    return float(request.param)


def test_unreliable_numbers_end_with_code_1(
    unreliable: float, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "NOT RELIABLE" in lines(capsys, TEXT, code=1)[-1]


def test_json_of_unreliable_numbers_ends_with_code_1_and_is_json(
    unreliable: float, report: Report
) -> None:
    verify = report(TEXT, code=1)["verify"]
    assert verify["ok"] is False
    assert verify["worst"]["error"] == (unreliable if unreliable == 2e-4 else None)


# --- some heads --------------------------------------------------------------------------------


def test_the_heads_that_are_kept_are_printed_and_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "some.safetensors"
    kept = lines(capsys, TEXT, "--keep", "L3,L5.H11", "--layer", "5", "--out", str(file))
    assert kept[1:-1] == lines(capsys, TEXT, "--layer", "5", "--head", "11")[1:-1]
    saved = attnviz.read(file)
    assert isinstance(saved, attnviz.Capture)
    assert [(call.layer, len(call.kept_heads)) for call in saved.calls] == [(3, 12), (5, 1)]
    first = lines(capsys, "--from", str(file))
    assert first[3] == lines(capsys, TEXT, "--layer", "3")[3]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--keep", "L5.H12"), "L5.H12 does not exist: this model has L0 (12 heads)"),
        (("--keep", "five"), "'five' names no head"),
        (("--keep", ""), "'' names no head"),
        (("--keep", "L5.H1,L5.H3", "--head", "2"), "again with this head in --keep"),
        (("--keep", "L5.H1", "--layer", "4"), "layer 4 of 'self' attention is not in this capture"),
    ],
)
def test_what_cannot_be_kept_or_was_not_is_refused(
    arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["capture", TEXT, *arguments]) == main.FAILED
    assert words in capsys.readouterr().err


# --- input -------------------------------------------------------------------------------------


def test_a_pair_is_one_sequence(report: Report) -> None:
    assert report("One", "--pair", "Two")["tokens"].count("[SEP]") == 2


def test_a_text_is_read_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, report: Report
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"{TEXT}\n".encode())))
    assert report("-")["tokens"] == TOKENS


def test_a_text_is_read_from_a_file(
    report: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(f"\ufeff{TEXT}\r\n".encode())
    assert report("--file", str(path))["tokens"] == TOKENS
    assert main.main(["capture", TEXT, "--file", str(path)]) == main.FAILED
    assert "leave one of them out" in capsys.readouterr().err
    assert main.main(["capture", "--file", str(tmp_path / "none.txt")]) == main.FAILED
    assert "cannot read" in capsys.readouterr().err


def test_cut_keeps_the_beginning_of_a_long_text(report: Report) -> None:
    assert len(report("word " * 600, "--cut")["tokens"]) == 512


def test_cross_attention_has_axes_of_its_own(
    report: Report, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = report(*TRANSLATION)
    assert (printed["stack"], printed["kind"]) == ("decoder", "cross")
    assert {len(row) for row in printed["weights"]} == {len(printed["key_tokens"])}
    assert len(printed["weights"]) == len(printed["tokens"]) != len(printed["key_tokens"])
    text = lines(capsys, *TRANSLATION)
    assert text[2].split()[1:] == printed["key_tokens"]
    assert text[5].split() == printed["key_tokens"]


def test_a_decoder_writes_first(report: Report) -> None:
    given, written = report(*STORY)["tokens"], report(*STORY, "--generate", "3")["tokens"]
    assert len(written) - len(given) == 2  # the token that is written last is never read


def test_a_picture_is_a_file(tmp_path: Path, report: Report) -> None:
    file = tmp_path / "red.png"
    Image.new("RGB", (24, 24), "red").save(file)
    assert report("--model", "shapes", "--image", str(file))["tokens"][:2] == ["[CLS]", "r0c0"]


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["word " * 600], "--cut"),
        ([], "--image or --sound with a FILE"),
        ([TEXT, "--model", "translator"], "give --target, or --generate N"),
        ([TEXT, "--chat"], "leave --chat out"),
    ],
)
def test_a_refusal_speaks_of_options(
    arguments: list[str], advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["capture", *arguments]) == main.FAILED
    err = capsys.readouterr().err
    assert advice in err
    assert "=" not in err and "()" not in err


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_hostile_text_is_printed_as_text(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = "\n".join(lines(capsys, "a\x1b[31m\u202eb\ud800", *options))
    assert "\x1b" not in out and "\u202e" not in out and "\ud800" not in out


def test_a_model_with_inputs_of_its_own_needs_none(report: Report) -> None:
    assert report("--model", "mha-55")["weights"]


def test_json_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    [line] = lines(capsys, TEXT, "--json")
    assert json.loads(line)["tokens"] == TOKENS
