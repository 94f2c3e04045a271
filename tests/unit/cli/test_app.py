"""`attnviz app`: refuses a port in one line, else becomes Streamlit."""

import os
import socket
import sys
from pathlib import Path

import pytest

import attnviz
from attnviz.cli import app, main
from attnviz.files import capture_file
from tests.support import captures
from tests.support.server import free_port


def test_require_free_names_another_port(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert main.main(["app", "--port", str(port)]) == main.FAILED
    err = capsys.readouterr().err
    assert err.startswith("attnviz: ") and str(port) in err and f"PORT={port + 1}" in err


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--port", "70000"], "65535"),
        (["--address", "192.0.2.1"], "192.0.2.1 is not an address of this machine"),
        (["--address", "foo.invalid"], "--address 0.0.0.0"),
        (["--model", "storys"], "'stories'"),
    ],
)
def test_what_cannot_be_opened_is_refused(
    arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["app", "--port", str(free_port()), *arguments]) == main.FAILED
    assert part in capsys.readouterr().err


def test_one_of_several_processes_is_told_how_to_show_its_model(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(app.os, "execv", lambda *_: sys.exit())
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert main.main(["app", "--port", str(free_port())]) == main.FAILED
    err = capsys.readouterr().err
    assert "torchrun started 2" in err and "with its weights" in err and "--capture FILE" in err


VIEWS = {
    (): "",
    ("--model", "stories"): "/?model=stories",
    ("--model", "minilm", "--text", "a & b 猫"): "/?model=minilm&text=a%20%26%20b%20%E7%8C%AB",
}


@pytest.mark.parametrize("arguments", VIEWS)
def test_run_becomes_streamlit(
    arguments: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    started: list[list[str]] = []

    def replaced(_path: str, command: list[str]) -> None:
        started.append(command)
        raise SystemExit  # a process that was replaced does not come back

    monkeypatch.setattr(app.os, "execv", replaced)
    port = free_port()
    with pytest.raises(SystemExit):
        main.main(["app", "--port", str(port), *arguments])
    assert f"http://127.0.0.1:{port}{VIEWS[arguments]} (stop" in capsys.readouterr().out
    [command] = started
    assert command[:4] == [sys.executable, "-m", "streamlit", "run"]
    assert Path(command[4]).read_text(encoding="utf-8").count("st.App(") == 1
    assert command[5:] == [f"--server.port={port}", "--server.address=127.0.0.1"]


def test_run_names_a_capture_to_the_server(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv(capture_file.VARIABLE, "")
    monkeypatch.setattr(app.os, "execv", lambda *_: sys.exit())
    path = attnviz.save(captures.every_kind()["grouped"], tmp_path / "run.safetensors")
    port = ["--port", str(free_port())]
    with pytest.raises(SystemExit):
        main.main(["app", *port, "--capture", str(path)])
    assert f"/?capture={capture_file.digest_of_file(path)} (stop" in capsys.readouterr().out
    assert os.environ[capture_file.VARIABLE] == str(path)
    assert main.main(["app", *port, "--capture", str(path), "--model", "minilm"]) == main.FAILED
    assert "leave out --model" in capsys.readouterr().err
    path.write_bytes(b"no capture")
    assert main.main(["app", *port, "--capture", str(path)]) == main.FAILED
    assert "cannot be read as a capture" in capsys.readouterr().err
