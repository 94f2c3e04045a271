"""`attnviz app`: refuses a port in one line, else becomes Streamlit."""

import socket
import sys
from pathlib import Path

import pytest

from attnviz.cli import app, main


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
        (["--address", "192.0.2.1"], "cannot listen on 192.0.2.1"),
    ],
)
def test_require_free_refuses_what_cannot_be_listened_on(
    arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["app", *arguments]) == main.FAILED
    assert part in capsys.readouterr().err


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
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(SystemExit):
        main.main(["app", "--port", str(port), *arguments])
    assert f"http://127.0.0.1:{port}{VIEWS[arguments]} (stop" in capsys.readouterr().out
    [command] = started
    assert command[:4] == [sys.executable, "-m", "streamlit", "run"]
    assert Path(command[4]).read_text(encoding="utf-8").count("st.App(") == 1
    assert command[5:] == [f"--server.port={port}", "--server.address=127.0.0.1"]
