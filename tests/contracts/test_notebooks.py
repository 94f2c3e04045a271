"""The notebooks of docs/notebooks: they run with the library as it is, and show what they say."""

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from scripts import run_notebooks
from tests.contracts import project

NAMES = [path.stem for path in run_notebooks.notebooks()]
MAX_BYTES = 300_000
# what differs from one machine or run to the next: digits, an object's address, padding
VARIES = re.compile(r"@[0-9a-f]+|[−-]?\d[\d.,e+−-]*|\s+")


def shown(outputs: Sequence[Any]) -> list[str]:
    """What a cell prints or says of its value, without numbers."""
    texts = [output.get("text") or output["data"]["text/plain"] for output in outputs]
    return [VARIES.sub("", "".join(text)) for text in texts]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_shows_what_it_says(name: str, tmp_path: Path) -> None:
    notebook = run_notebooks.read(run_notebooks.FOLDER / f"{name}.ipynb")
    cells = run_notebooks.code_cells(notebook)
    with contextlib.chdir(tmp_path):
        results = list(run_notebooks.run(notebook))
    assert [shown(outputs) for outputs in results] == [shown(cell["outputs"]) for cell in cells]
    assert any(cell["outputs"] for cell in cells)


def test_a_notebook_that_shows_something_else_is_found() -> None:
    printed = {"name": "stdout", "output_type": "stream", "text": ["head 3: 0.25\n"]}
    other = {**printed, "text": ["head 4:  0.31\n"]}
    assert shown([printed]) == shown([other])
    assert shown([printed]) != shown([{**printed, "text": ["layer 3: 0.25\n"]}])


def test_notebooks_are_small_and_the_guide_leads_to_them() -> None:
    guide = project.docs()["docs/guide/README.md"]
    assert len(NAMES) >= 4
    assert not [name for name in NAMES if f"(../notebooks/{name}.ipynb)" not in guide]
    sizes = {path.name: path.stat().st_size for path in run_notebooks.notebooks()}
    assert not {name: size for name, size in sizes.items() if size > MAX_BYTES}
