"""The notebooks: they run with the library as it is, and show what they say."""

import contextlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from scripts import run_notebooks
from tests.contracts import project

PATHS = {path.stem: path for path in run_notebooks.notebooks()}
NAMES = list(PATHS)
LONG = {"indirect-object"}  # of 20 pairs, with two circuits
MAX_BYTES = 300_000
# what differs from one machine or run to the next: digits, an object's address, padding
VARIES = re.compile(r"@[0-9a-f]+|[−-]?\d[\d.,e+−-]*|\s+")
NUMBER = re.compile(r"(?<![\w@.])[−+-]?\d+(?:\.\d+)?(?:e[+−-]?\d+)?(?!\w)")


def texts(outputs: Sequence[Any]) -> list[str]:
    """What a cell prints or says of its value."""
    said = [output.get("text") or output["data"]["text/plain"] for output in outputs]
    return ["".join(text) for text in said]


def shown(outputs: Sequence[Any]) -> list[str]:
    """The same without numbers."""
    return [VARIES.sub("", text) for text in texts(outputs)]


def numbers(outputs: Sequence[Any]) -> list[float]:
    return [
        float(found.replace("−", "-")) for text in texts(outputs) for found in NUMBER.findall(text)
    ]


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in NAMES]
)
def test_a_notebook_runs_and_shows_what_it_says(name: str, tmp_path: Path) -> None:
    notebook = run_notebooks.read(PATHS[name])
    cells = run_notebooks.code_cells(notebook)
    with contextlib.chdir(tmp_path):
        results = list(run_notebooks.run(notebook))
    assert [shown(outputs) for outputs in results] == [shown(cell["outputs"]) for cell in cells]
    for outputs, cell in zip(results, cells, strict=True):
        assert numbers(outputs) == pytest.approx(numbers(cell["outputs"]), rel=0.01, abs=0.02)
    assert any(cell["outputs"] for cell in cells)


def test_a_notebook_that_shows_something_else_is_found() -> None:
    printed = {"name": "stdout", "output_type": "stream", "text": ["head 3: 0.25\n"]}
    other = {**printed, "text": ["head 4:  0.31\n"]}
    assert shown([printed]) == shown([other])
    assert shown([printed]) != shown([{**printed, "text": ["layer 3: 0.25\n"]}])
    assert numbers([printed]) == [3, 0.25]
    assert numbers([{**printed, "text": ["off by 6.0e-08 of 2.0e+1"]}]) == [6e-8, 20]
    assert numbers([{**printed, "text": ["L2.H1 −1.5 of +7 (z 9), @0x7f3 x2"]}]) == [-1.5, 7, 9]


def test_notebooks_are_small_and_the_guide_leads_to_them() -> None:
    guide = project.docs()["docs/guide/README.md"]
    assert len(NAMES) >= 5
    places = [os.path.relpath(path, project.ROOT / "docs/guide") for path in PATHS.values()]
    assert not [place for place in places if f"({place})" not in guide]
    sizes = {path.name: path.stat().st_size for path in run_notebooks.notebooks()}
    assert not {name: size for name, size in sizes.items() if size > MAX_BYTES}
