"""The documents mention everything there is, name only what exists, and their code runs."""

import contextlib
import re
import shlex
import tomllib
from pathlib import Path

import pytest

import attnviz
from attnviz.cli import main
from attnviz.i18n import LANGUAGES
from attnviz.metrics import PATTERNS
from tests.contracts import doc_rules, project

README_LINES = 120
DOCS = project.docs()
TARGETS = doc_rules.make_targets(project.read(project.ROOT / "Makefile"))


def registries() -> dict[str, list[str]]:
    """Everything a reader can name, from the place that defines it."""
    return {
        "exported name": list(attnviz.__all__),
        "command": [f"attnviz {name}" for name in main.COMMANDS],
        "page": [f"pages/{path.name}" for path in project.python_files(project.PAGES)],
        "metric": [*PATTERNS, "spread"],
        "model": [card.name for card in attnviz.models()],
        "make target": [f"make {target}" for target in sorted(TARGETS)],
        "language": list(LANGUAGES),
    }


@pytest.mark.parametrize("kind", registries())
def test_everything_is_documented(kind: str) -> None:
    names = registries()[kind]
    assert names
    assert not doc_rules.unmentioned(names, DOCS)


def test_an_undocumented_name_is_found() -> None:
    documents = {
        "x.md": "`load` and\n```python\nattnviz.capture(lm)\n```\nbut derive only as prose"
    }
    assert doc_rules.unmentioned(["load", "capture", "derive", "loa"], documents) == [
        "derive",
        "loa",
    ]


@pytest.mark.parametrize("name", DOCS)
def test_paths_and_links_exist(name: str) -> None:
    assert not doc_rules.missing_paths(DOCS[name], project.ROOT)
    assert not doc_rules.broken_links(name, DOCS[name], project.ROOT)


def test_a_missing_path_and_a_broken_link_are_found() -> None:
    text = "`attnviz/gone.py` `attnviz/{types,gone}.py` `gone.md` `a/b` ![x](docs/gone.png) [y](https://x)"
    assert doc_rules.missing_paths(text, project.ROOT) == ["attnviz/gone.py"] * 2 + ["gone.md"]
    assert doc_rules.broken_links("README.md", text, project.ROOT) == ["docs/gone.png"]


def test_the_map_names_every_room() -> None:
    rooms = [
        f"attnviz/{path.name}" if path.is_file() else f"attnviz/{path.name}/"
        for path in sorted(project.PACKAGE.iterdir())
        if path.suffix == ".py" and path.stem != "__init__" or (path / "__init__.py").exists()
    ]
    text = DOCS["docs/map.md"]
    assert not [room for room in rooms if room.rstrip("/") not in text]


# --- README ------------------------------------------------------------------------------------


def readme() -> str:
    return DOCS["README.md"]


def test_the_readme_is_short() -> None:
    assert len(readme().splitlines()) <= README_LINES


def test_the_text_of_the_package_needs_nothing_of_the_repository() -> None:
    """An index of packages shows it, which has neither our pictures nor our files."""
    text = DOCS["docs/package.md"]
    assert not re.findall(r"\]\(|<img|<a ", text)
    described = tomllib.loads(project.read(project.ROOT / "pyproject.toml"))["project"]
    assert described["readme"] == "docs/package.md"
    assert "urls" not in described  # no home of the project is known: see docs/decisions.md


@pytest.mark.parametrize("name", ["README.md", "docs/package.md"])
def test_the_python_of_the_first_page_runs(name: str, tmp_path: Path) -> None:
    found = doc_rules.blocks(DOCS[name], "python")
    assert found
    names: dict[str, object] = {}
    with contextlib.chdir(tmp_path):
        for block in found:
            exec(compile(block, name, "exec"), names)


def wrong_command(line: str) -> str | None:
    """Why a command of the documents would not run; None for programs that are not ours."""
    words = [word for word in shlex.split(line) if not re.match(r"[A-Z_]+=", word)]
    if words[0] == "make":
        unknown = set(words[1:]) - TARGETS
        return f"no make target {sorted(unknown)}" if unknown else None
    if words[0] == "attnviz":
        try:
            with contextlib.redirect_stderr(None):
                main.parser().parse_args(words[1:])
        except SystemExit as ended:
            return f"attnviz does not take {words[1:]}" if ended.code else None
    return None


@pytest.mark.parametrize("name", DOCS)
def test_the_commands_of_the_documents_exist(name: str) -> None:
    lines = doc_rules.commands(DOCS[name])
    assert not list(filter(None, map(wrong_command, lines)))


@pytest.mark.parametrize(
    "line", ["make tests", "attnviz shown x", "attnviz check", "make PORT=1 rum"]
)
def test_a_wrong_command_is_found(line: str) -> None:
    assert wrong_command(line)


@pytest.mark.parametrize(
    "line", ["make run PORT=9000", "attnviz capture 'The cat sat' --json", "git clone x"]
)
def test_a_right_command_is_accepted(line: str) -> None:
    assert wrong_command(line) is None
