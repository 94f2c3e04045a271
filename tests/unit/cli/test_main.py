"""The command line: what it prints, what it refuses, and how it starts the app."""

import json
import socket
import sys
from functools import cache
from pathlib import Path

import pytest
from PIL import Image

import attnviz
from attnviz.cli import main
from attnviz.models import loader

TEXT = "The cat sat"
TOKENS = ["[CLS]", "The", "cat", "sat", "[SEP]"]


@pytest.fixture(autouse=True)
def load_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that follow each other in one process share what they load."""
    monkeypatch.setattr(attnviz, "load", load_once_by_name)


@cache
def load_once_by_name(name: str, **options: str | None) -> attnviz.LoadedModel:
    return loader.load(name, **options)  # type: ignore[arg-type]


def test_models_lists_the_registry(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["models"]) == 0
    head, first, *_ = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ["name", "kind", "layers", "heads"]
    assert first.split()[:4] == ["minilm", "encoder", "6", "12"]


def test_capture_prints_tokens_weights_and_the_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["capture", TEXT, "--layer", "2", "--head", "11"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "minilm: 5 tokens, 6 layers, 12 heads"
    assert lines[1].split()[1:] == TOKENS
    assert "L2.H11" in lines[3]
    assert lines[4].split() == TOKENS
    for line in lines[5:10]:
        assert sum(map(float, line.split()[1:])) == pytest.approx(1.0, abs=0.03)
    assert lines[-1].startswith("verified: max |ours - model| = ")


def test_capture_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["capture", TEXT, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["tokens"] == TOKENS
    assert (report["model"], report["layer"], report["head"]) == ("minilm", 0, 0)
    assert [sum(row) for row in report["weights"]] == pytest.approx([1.0] * len(TOKENS))
    assert max(report["verify"].values()) == report["verify"]["tolerance"]


@pytest.mark.parametrize("error", [2e-4, float("nan")])
def test_unreliable_numbers_are_said_to_be(
    error: float, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        attnviz.Capture, "verify", lambda _capture: {"layer": error, "tolerance": 1e-4}
    )
    assert main.main(["capture", TEXT]) == 1
    assert "NOT RELIABLE" in capsys.readouterr().out


def test_a_pair_is_one_sequence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["capture", "One", "--pair", "Two", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tokens"].count("[SEP]") == 2


def test_cross_attention_has_axes_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    given = [
        "capture",
        "I like red cars.",
        "--model",
        "translator",
        "--target",
        "j' aime les voitures",
    ]
    cross = ["--stack", "decoder", "--kind", "cross", "--layer", "1"]
    assert main.main([*given, *cross, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["stack"], report["kind"]) == ("decoder", "cross")
    assert {len(row) for row in report["weights"]} == {len(report["key_tokens"])}
    assert len(report["weights"]) == len(report["tokens"]) != len(report["key_tokens"])
    assert main.main([*given, *cross]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split()[1:] == report["key_tokens"]
    assert lines[5].split() == report["key_tokens"]


def test_a_decoder_writes_first(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["capture", "Lily gave the red ball to", "--model", "stories", "--json"]
    lengths = []
    for n in ("0", "3"):
        assert main.main([*given, "--generate", n]) == 0
        lengths.append(len(json.loads(capsys.readouterr().out)["tokens"]))
    assert lengths[1] - lengths[0] == 2  # what is written last is never read


def test_a_picture_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "red.png"
    Image.new("RGB", (24, 24), "red").save(file)
    assert main.main(["capture", "--model", "shapes", "--image", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tokens"][:2] == ["[CLS]", "r0c0"]


def test_other_numbers_have_another_tolerance(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["capture", TEXT, "--dtype", "bfloat16", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verify"]["worst"]["tolerance"] >= 1e-3


def test_a_long_text_lists_the_strongest_keys(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    )
    assert main.main(["capture", words, "--layer", "0", "--head", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[4].split() == ["query", "key", "1", "key", "2", "key", "3"]
    row = next(line for line in lines[5:] if line.startswith("three"))
    assert row.split()[1] == "two"  # L0.H2 looks at the previous token
    assert [float(part) for part in row.split()[2::2]] == sorted(
        (float(part) for part in row.split()[2::2]), reverse=True
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["capture", ""], "text"),
        (["capture", "   "], "text"),
        (["capture", TEXT, "--model", "nonsense"], "minilm"),
        (["capture", TEXT, "--layer", "6"], "6"),
        (["capture", TEXT, "--head", "-1"], "-1"),
        (["capture", "word " * 600], "512"),
        (["capture", TEXT, "--kind", "cross"], "self"),
        (["capture", TEXT, "--device", "nowhere"], "nowhere"),
        (["capture", TEXT, "--dtype", "int3"], "bfloat16"),
        (["capture", TEXT, "--target", "Other"], "encoder-decoder"),
        (["capture", TEXT, "--chat"], "template"),
        (["capture", "--model", "shapes", "--image", "nowhere.png"], "nowhere.png"),
        (["capture", "--model", "shapes", "--image", __file__], "no picture"),
        (["capture", "--sound", __file__], "WAV"),
    ],
)
def test_what_the_user_can_mend_is_a_message_and_exit_code_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("attnviz: ") and said in err and "Traceback" not in err


def test_hostile_text_is_printed_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["capture", "a\x1b[31m\u202eb\ud800", "--json"]) == 0
    assert main.main(["capture", "a\x1b[31m\u202eb\ud800"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\u202e" not in out and "\ud800" not in out


def test_a_worksheet_is_a_page_with_numbers_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    pages = []
    for seed in ("7", "8"):
        assert main.main(["worksheet", "block", "--lang", "ja", "--seed", seed]) == 0
        pages.append(capsys.readouterr().out)
    assert all(page.startswith("<!doctype html>") and '<html lang="ja">' in page for page in pages)
    assert pages[0] != pages[1]
    assert main.main(["worksheet", "nonsense"]) == 2
    assert "block" in capsys.readouterr().err


def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    for command in main.COMMANDS:
        with pytest.raises(SystemExit) as ended:
            main.main([command, "--help"])
        assert ended.value.code == 0
        assert main.COMMANDS[command].help in capsys.readouterr().out


def test_a_taken_port_is_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert main.main(["app", "--port", str(port)]) == 2
    err = capsys.readouterr().err
    assert str(port) in err and f"PORT={port + 1}" in err


def test_a_port_that_is_none_is_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["app", "--port", "70000"]) == 2
    assert "65535" in capsys.readouterr().err


def test_an_address_of_another_machine_is_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["app", "--address", "192.0.2.1"]) == 2
    assert "cannot listen on 192.0.2.1" in capsys.readouterr().err


def test_app_becomes_streamlit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[list[str]] = []

    def replaced(_path: str, command: list[str]) -> None:
        started.append(command)
        raise SystemExit  # a process that was replaced does not come back

    monkeypatch.setattr(main.os, "execv", replaced)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(SystemExit):
        main.main(["app", "--port", str(port)])
    assert f"http://127.0.0.1:{port}" in capsys.readouterr().out
    [command] = started
    assert command[:4] == [sys.executable, "-m", "streamlit", "run"]
    assert Path(command[4]).read_text(encoding="utf-8").count("st.App(") == 1
    assert command[5:] == [f"--server.port={port}", "--server.address=127.0.0.1"]
