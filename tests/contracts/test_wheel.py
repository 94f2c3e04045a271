"""The wheel holds the whole app and nothing else, and the app runs from it alone."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.contracts import project
from tests.support import server


def pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *arguments]
    result = subprocess.run(command, cwd=project.ROOT, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", ".", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder))
    [found] = folder.glob("attnviz-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to import the unpacked wheel from, far from the checkout."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def expected() -> set[str]:
    """Every file of the checkout that the app needs, by its place in the wheel."""
    package = {
        path.relative_to(project.ROOT).as_posix()
        for path in project.PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    pages = {f"attnviz/pages/{path.name}" for path in project.python_files(project.PAGES)}
    return package | pages | {"attnviz/app.py", "attnviz/.streamlit/config.toml"}


def test_the_wheel_holds_the_app_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    held = {name for name in names if ".dist-info/" not in name}
    assert held == expected()
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {".toml", ".js", ".css", ".py"} <= {Path(name).suffix for name in held}


WHEEL_MIB = 11.4  # 10.1 of them are the weights of the embedded models


def test_the_wheel_is_small_and_leaves_training_out(wheel: Path) -> None:
    size = wheel.stat().st_size / 2**20
    names = zipfile.ZipFile(wheel).namelist()
    assert size < WHEEL_MIB, f"{size:.2f} MiB"
    grammars = ("/french/", "/stories/", "/sentiment/")
    training = [
        name
        for name in names
        if name.endswith((".py", ".toml")) and any(g in name for g in grammars)
    ]
    assert not training
    assert any(name.endswith("worlds/cases/stories/facts.jsonl") for name in names)


def run_installed(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=installed, env=env, capture_output=True, text=True, timeout=120
    )


def test_the_command_runs_from_the_wheel(installed: Path) -> None:
    result = run_installed(installed, "-m", "attnviz", "models")
    assert result.returncode == 0, result.stderr
    assert "minilm" in result.stdout


def test_a_claim_is_measured_from_the_wheel(installed: Path) -> None:
    """`attnviz check` needs the stored cases and none of the grammars that drew them."""
    result = run_installed(installed, "-m", "attnviz", "check", "translator")
    assert "sentences translated exactly" in result.stdout, result.stderr


SHOW_TITLE = """
import attnviz
from pathlib import Path
from streamlit.testing.v1 import AppTest

entry = Path(attnviz.__file__).parent / "ui" / "main.py"
app = AppTest.from_file(str(entry), default_timeout=60).run()
assert not app.exception, app.exception
print(entry, app.title[0].value)
"""


def test_a_page_is_found_inside_the_wheel(installed: Path) -> None:
    result = run_installed(installed, "-c", SHOW_TITLE)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(str(installed)) and result.stdout.strip().endswith("Overview")


def test_the_app_starts_from_the_wheel(installed: Path) -> None:
    port = server.free_port()
    command = [sys.executable, "-m", "attnviz", "app", "--port", str(port)]
    with server.serve(port, command, cwd=installed, env={"PYTHONPATH": str(installed)}) as url:
        assert url.endswith(str(port))
