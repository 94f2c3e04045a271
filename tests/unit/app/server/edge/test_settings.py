"""Settings of the operator that cannot be meant are told at the start, each with what to give."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from streamlit import config

from attnviz.app.server import class_socket
from attnviz.app.server.edge import settings
from tests.support.server import ROOT

WRONG = [
    ("ATTNVIZ_MAX_MODEL_MIB", "8G", "'8G'"),
    ("ATTNVIZ_MAX_RUN_MIB", "0", "1 MiB or more"),
    ("ATTNVIZ_MAX_DOWNLOADS_MIB", "abc", "whole number of MiB"),
    ("ATTNVIZ_MAX_UPLOADS_MIB", "-5", "1 MiB or more"),
    ("ATTNVIZ_MODEL_DIRS", "/nowhere/at/all", "'/nowhere/at/all'"),
    ("ATTNVIZ_MODEL_DIRS", "tests", "whole paths"),
    ("ATTNVIZ_MODEL_DIRS", __file__, "directories that exist"),
    ("ATTNVIZ_MODELS", str(ROOT / "tests"), "ATTNVIZ_MODEL_DIRS"),
    ("ATTNVIZ_MODELS", "no-such-model", "no-such-model"),
    ("ATTNVIZ_FRAME_ANCESTORS", "https://a.example,https://b.example", "spaces between"),
    ("ATTNVIZ_FRAME_ANCESTORS", "self", "'self'"),
    ("ATTNVIZ_FRAME_ANCESTORS", "https://lms.example/course", "without a path"),
    ("ATTNVIZ_METRICS_KEY", "key ", "letters and digits"),
    ("ATTNVIZ_METRICS_KEY", "ключ", "letters and digits"),
    ("ATTNVIZ_REDIS", "store:6379", "redis://host:6379/0"),
    ("ATTNVIZ_PUBLIC_URL", "here.example", "give the whole address"),
]
SOUND = {
    "ATTNVIZ_MAX_MODEL_MIB": "100",
    "ATTNVIZ_MODEL_DIRS": os.pathsep.join([str(ROOT), str(ROOT / "tests")]),
    "ATTNVIZ_MODELS": os.pathsep.join(["owner/name", str(ROOT / "tests"), "minilm", ""]),
    "ATTNVIZ_FRAME_ANCESTORS": "'self' https://lms.example *.school.example http://localhost:8000",
    "ATTNVIZ_METRICS_KEY": "a-long_key.1",
    "ATTNVIZ_PUBLIC_URL": "https://here.example:8443/folder",
}


@pytest.fixture(autouse=True)
def no_store() -> None:
    class_socket.rooms.cache_clear()


def told(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> Sequence[str]:
    monkeypatch.setenv(variable, value)
    return list(settings.problems())


@pytest.mark.parametrize(("variable", "value", "advice"), WRONG)
def test_a_wrong_setting_is_told_by_its_name(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, advice: str
) -> None:
    (problem,) = told(monkeypatch, variable, value)
    assert variable in problem
    assert advice in problem


def test_sound_settings_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(settings.problems()) == []
    for variable, value in SOUND.items():
        assert told(monkeypatch, variable, value) == []


@pytest.mark.parametrize("hosts", [["https://attnviz.example"], ["a.example,b.example"], ["a:80/"]])
def test_hosts_that_are_no_names_are_told(
    monkeypatch: pytest.MonkeyPatch, hosts: list[str]
) -> None:
    ask = config.get_option
    monkeypatch.setattr(
        config, "get_option", lambda name: hosts if name == "server.allowedHosts" else ask(name)
    )
    (problem,) = settings.problems()
    assert problem.startswith(f"STREAMLIT_SERVER_ALLOWED_HOSTS names {hosts[0]!r}")


def test_a_server_with_a_wrong_setting_does_not_start(tmp_path: Path) -> None:
    wrong = {"ATTNVIZ_MAX_MODEL_MIB": "8G", "ATTNVIZ_MODEL_DIRS": str(tmp_path / "gone")}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port=0"]
    ended = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **wrong}, capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == settings.BAD_SETTING
    assert len([line for line in ended.stderr.splitlines() if line.startswith("attnviz: ")]) == 2
    assert "Traceback" not in ended.stderr
