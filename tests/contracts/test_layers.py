"""The direction of imports: checked by import-linter and ruff, each proven able to fail."""

import ast
import re
import shutil
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.contracts import project
from tests.contracts.rules import parse
from tests.support.cases import mostly_slow


def lint_imports(root: Path) -> tuple[int, str]:
    result = project.run_tool("lint-imports", "--no-cache", cwd=root)
    return result.returncode, result.stdout + result.stderr


def test_imports_go_one_way() -> None:
    code, output = lint_imports(project.ROOT)
    assert code == 0, output


BROKEN = [  # a line put into a file, and the contract that has to refuse what it imports
    ("attnviz/types.py", "import attnviz.attention.call", "one direction"),
    ("attnviz/masks/kinds.py", "import attnviz.attention.formula", "one direction"),
    ("attnviz/metrics/__init__.py", "import attnviz.figures", "one direction"),
    (
        "attnviz/app/bar/navigation.py",
        "import attnviz.app.frame.frame",
        "one direction inside app",
    ),
    ("attnviz/pictures/group/heads.py", "import attnviz.app.server.sources", "one direction"),
    (
        "attnviz/capture/locate/scale.py",
        "import attnviz.capture.run",
        "one direction inside capture",
    ),
    (
        "attnviz/pictures/shared/heads.py",
        "import torch",
        "what draws and what is read needs no torch",
    ),
    ("attnviz/errors.py", "import torch", "what draws and what is read needs no torch"),
    (
        "attnviz/figures/__init__.py",
        "import attnviz.attention.call",
        "what draws and what is read needs no torch",
    ),
    ("attnviz/attention/steps.py", "import streamlit", "below ui no streamlit"),
    (
        "attnviz/attention/formula.py",
        "import transformers",
        "transformers only where models are loaded and recorded",
    ),
]


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and its settings that a test may spoil."""
    folder = tmp_path_factory.mktemp("copied")
    shutil.copy(project.ROOT / "pyproject.toml", folder)
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(project.PACKAGE, folder / "attnviz", ignore=ignore)
    return folder


@pytest.fixture(scope="module")
def refused(copied: Path) -> dict[str, str]:
    """What the report of broken contracts says under each, with all wrong lines in one copy."""
    for file, line, _ in BROKEN:
        with (copied / file).open("a", encoding="utf-8") as module:
            module.write(f"\n{line}\n")
    code, output = lint_imports(copied)
    assert code != 0
    parts = re.split(r"^(.+)\n-+\n", output.partition("Broken contracts")[2], flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize(("file", "line", "contract"), BROKEN)
def test_a_wrong_import_is_found(
    refused: dict[str, str], file: str, line: str, contract: str
) -> None:
    module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    imported = line.removeprefix("import ")
    chain = re.compile(rf"{re.escape(module)} -> {re.escape(imported)}\b")
    assert chain.search(refused[contract]), refused[contract]


def imports(path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    """The modules that a file imports, at the top or inside a function."""
    for node in ast.walk(parse(project.read(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in modules else node.module


def circle(modules: Mapping[str, Path]) -> list[str]:
    """The modules of a circle of imports, but for the façade, which imports all; [] for none."""
    graph = {
        name: {found for found in imports(path, modules) if found in modules} - {name, "attnviz"}
        for name, path in modules.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_no_files_import_each_other() -> None:
    modules = {
        ".".join(path.relative_to(project.ROOT).with_suffix("").parts).removesuffix(
            ".__init__"
        ): path
        for path in project.python_files(project.PACKAGE)
    }
    assert len(modules) > 300 and circle(modules) == []


def test_a_circle_of_files_is_found(tmp_path: Path) -> None:
    texts = {
        "a": "from b import x\n",
        "b": "def f():\n    import c\n",
        "c": "if T:\n    import a\n",
    }
    modules = {name: tmp_path / f"{name}.py" for name in texts}
    for name, text in texts.items():
        modules[name].write_text(text)
    assert sorted(set(circle(modules))) == ["a", "b", "c"]
    assert circle({name: modules[name] for name in "ab"}) == []


def test_a_room_that_no_contract_names_is_found(copied: Path) -> None:
    (copied / "attnviz" / "newroom.py").write_text("")
    code, output = lint_imports(copied)
    assert code != 0 and "newroom" in output


BANNED = [
    ("attnviz/attention/steps.py", "import streamlit\n\nstreamlit.write(1)\n", "TID251"),
    ("attnviz/metrics/x.py", "import transformers\n\ntransformers.set_seed(1)\n", "TID251"),
    ("attnviz/files/x.py", "import pickle\n\npickle.dumps(1)\n", "TID251"),
    ("attnviz/attention/call.py", "from .types import Tokens\n\nTokens\n", "TID252"),
    ("attnviz/attention/call.py", "print(1)\n", "T201"),
    ("attnviz/attention/call.py", "try:\n    x = 1\nexcept:\n    x = 2\n", "E722"),
]


@pytest.mark.parametrize(("file", "text", "rule"), BANNED)
def test_ruff_refuses_it(file: str, text: str, rule: str) -> None:
    result = project.run_tool("ruff", "check", "--stdin-filename", file, "-", text=text)
    assert result.returncode == 1 and rule in result.stdout, result.stdout + result.stderr


@pytest.mark.parametrize("file", ["app.py", "pages/x.py", "attnviz/app/x.py"])
def test_ruff_lets_the_interface_use_streamlit(file: str) -> None:
    text = "import streamlit as st\n\nst.divider()\n"
    result = project.run_tool("ruff", "check", "--stdin-filename", file, "-", text=text)
    assert result.returncode == 0, result.stdout


HEAVY = ("torch", "transformers", "streamlit", "plotly", "numpy")
LOADED = f"import sys; print(*(name for name in {HEAVY} if name in sys.modules))"


def loaded_by(code: str) -> set[str]:
    """Which of the heavy packages a fresh interpreter has loaded after running the code."""
    result = project.run_python(f"{code}\n{LOADED}")
    assert result.returncode == 0, result.stderr
    return set(result.stdout.split())


def test_importing_attnviz_is_light() -> None:
    assert loaded_by("import attnviz; dir(attnviz)") == set()


def test_the_command_line_starts_light() -> None:
    assert loaded_by("from attnviz.cli.main import parser; parser()") == set()


def test_a_server_without_a_store_of_classes_loads_no_client_for_one() -> None:
    code = "from attnviz.app.server.class_socket import rooms; rooms()"
    loaded = project.run_python(f"{code}\nimport sys; print('redis' in sys.modules)")
    assert loaded.stdout.split() == ["False"], loaded.stderr


@pytest.mark.parametrize("module", mostly_slow(HEAVY, ("numpy",)))
def test_a_heavy_import_is_noticed(module: str) -> None:
    assert module in loaded_by(f"import attnviz, {module}")


@pytest.mark.parametrize("module", ["attnviz.i18n", "attnviz.types", "attnviz.errors"])
def test_the_leaves_load_no_framework(module: str) -> None:
    assert not loaded_by(f"import {module}") & {"torch", "transformers", "streamlit", "plotly"}


def test_figures_load_neither_torch_nor_streamlit() -> None:
    assert not loaded_by("import attnviz.figures") & {"torch", "transformers", "streamlit"}
