"""The direction of imports: checked by import-linter and ruff, each proven able to fail."""

import shutil
from pathlib import Path

import pytest

from tests.contracts import project


def lint_imports(root: Path) -> tuple[int, str]:
    result = project.run_tool("lint-imports", "--no-cache", cwd=root)
    return result.returncode, result.stdout + result.stderr


def test_imports_go_one_way() -> None:
    code, output = lint_imports(project.ROOT)
    assert code == 0, output


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the package and its settings that a test may spoil."""
    shutil.copy(project.ROOT / "pyproject.toml", tmp_path)
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(project.PACKAGE, tmp_path / "attnviz", ignore=ignore)
    return tmp_path


BROKEN = [
    ("attnviz/types.py", "import attnviz.attention.call", "one direction"),
    ("attnviz/masks/kinds.py", "import attnviz.attention.formula", "one direction"),
    ("attnviz/metrics/__init__.py", "import attnviz.figures", "one direction"),
    ("attnviz/newroom.py", "", "one direction"),
    ("attnviz/ui/sidebar/sidebar.py", "import attnviz.ui.page.frame", "one direction inside ui"),
    ("attnviz/views/heads.py", "import attnviz.ui.server.keys", "one direction"),
    (
        "attnviz/capture/locate/scale.py",
        "import attnviz.capture.run",
        "one direction inside capture",
    ),
    ("attnviz/components/heads.py", "import torch", "needs no torch"),
    ("attnviz/errors.py", "import torch", "needs no torch"),
    ("attnviz/figures/__init__.py", "import attnviz.attention.call", "needs no torch"),
    ("attnviz/attention/steps.py", "import streamlit", "below ui no streamlit"),
    ("attnviz/attention/formula.py", "import transformers", "transformers only"),
]


@pytest.mark.parametrize(("file", "line", "contract"), BROKEN)
def test_a_wrong_import_is_found(copied: Path, file: str, line: str, contract: str) -> None:
    with (copied / file).open("a", encoding="utf-8") as module:
        module.write(f"\n{line}\n")
    code, output = lint_imports(copied)
    assert code != 0
    assert contract in output.split("Broken contracts")[-1] or "newroom" in output, output


BANNED = [
    ("attnviz/attention/steps.py", "import streamlit\n\nstreamlit.write(1)\n", "TID251"),
    ("attnviz/metrics/x.py", "import transformers\n\ntransformers.set_seed(1)\n", "TID251"),
    ("attnviz/export/x.py", "import pickle\n\npickle.dumps(1)\n", "TID251"),
    ("attnviz/attention/call.py", "from .types import Tokens\n\nTokens\n", "TID252"),
    ("attnviz/attention/call.py", "print(1)\n", "T201"),
    ("attnviz/attention/call.py", "try:\n    x = 1\nexcept:\n    x = 2\n", "E722"),
]


@pytest.mark.parametrize(("file", "text", "rule"), BANNED)
def test_ruff_refuses_it(file: str, text: str, rule: str) -> None:
    result = project.run_tool("ruff", "check", "--stdin-filename", file, "-", text=text)
    assert result.returncode == 1 and rule in result.stdout, result.stdout + result.stderr


@pytest.mark.parametrize("file", ["app.py", "pages/x.py", "attnviz/ui/x.py"])
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


@pytest.mark.parametrize("module", ["torch", "streamlit"])
def test_a_heavy_import_is_noticed(module: str) -> None:
    assert module in loaded_by(f"import attnviz, {module}")


@pytest.mark.parametrize("module", ["attnviz.i18n", "attnviz.types", "attnviz.errors"])
def test_the_leaves_load_no_framework(module: str) -> None:
    assert not loaded_by(f"import {module}") & {"torch", "transformers", "streamlit", "plotly"}


def test_figures_load_neither_torch_nor_streamlit() -> None:
    assert not loaded_by("import attnviz.figures") & {"torch", "transformers", "streamlit"}
