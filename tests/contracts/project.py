"""Where the project's files are: the one place that contract tests get their lists from."""

import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "attnviz"
PAGES = ROOT / "pages"
UI = PACKAGE / "app"
COMPONENTS = PACKAGE / "pictures"
WEB_SUFFIXES = {".js", ".css", ".html", ".json"}


def name_of(path: Path) -> str:
    """The path as messages and test names show it."""
    return path.relative_to(ROOT).as_posix()


def python_files(*places: Path) -> list[Path]:
    """All Python files below these places, sorted; a place may be a file."""
    found: set[Path] = set()
    for place in places:
        found.update([place] if place.is_file() else place.rglob("*.py"))
    return sorted(found)


def library_files() -> list[Path]:
    """The package, without its interface and its command line."""
    apart = (UI, PACKAGE / "cli.py")
    return [
        path
        for path in python_files(PACKAGE)
        if not path.is_relative_to(apart[0]) and path != apart[1]
    ]


def interface_files() -> list[Path]:
    """Everything that speaks Streamlit."""
    return python_files(ROOT / "app.py", PAGES, UI)


def shipped_files() -> list[Path]:
    """All Python that is part of the product."""
    return python_files(ROOT / "app.py", PAGES, PACKAGE)


def web_files() -> list[Path]:
    """What the components send to a browser."""
    return sorted(path for path in COMPONENTS.rglob("*") if path.suffix in WEB_SUFFIXES)


def docs() -> Mapping[str, str]:
    """README and the documents, by name."""
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return {name_of(path): path.read_text(encoding="utf-8") for path in paths if path.is_file()}


@cache
def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def run_python(code: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Runs code in a fresh interpreter from the root of the checkout."""
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=ROOT, input=text, capture_output=True, text=True, timeout=300
    )


def run_tool(
    *arguments: str, cwd: Path = ROOT, text: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a command of the virtual environment that runs the tests."""
    tool = Path(sys.executable).parent / arguments[0]
    command = [str(tool), *arguments[1:]]
    return subprocess.run(command, cwd=cwd, input=text, capture_output=True, text=True, timeout=300)


def each_file(files: list[Path]) -> Iterator[tuple[str, str]]:
    """Name and text of each file; an empty list would make every rule pass, so it is refused."""
    assert files, "no files to check: has a folder been renamed?"
    for path in files:
        yield name_of(path), read(path)
