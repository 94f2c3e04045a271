"""Runs the notebooks and keeps their outputs: `python -m scripts.run_notebooks`.

In: those of docs/notebooks, and the exercises of the course; they are their own source. Out: the
same files with the outputs of their code cells, without a kernel: a cell is Python, its last
expression is displayed as Jupyter would. Names after the command choose notebooks, such as
`first-look`.
"""

import ast
import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attnviz.teach.course.exercises import NOTEBOOK

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
# the methods by which an object says how it is displayed, and the type of what each returns
DISPLAYS = {"_repr_html_": "text/html", "_repr_svg_": "image/svg+xml"}


def notebooks() -> list[Path]:
    """The notebooks: those of the documentation by name, then the exercises of the course."""
    return [*sorted(FOLDER.glob("*.ipynb")), NOTEBOOK]


def read(path: Path) -> dict[str, Any]:
    """A notebook as plain values."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def code_cells(notebook: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The cells that hold code, in order."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(notebook: Mapping[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """The outputs of each code cell, from top to bottom, in one namespace."""
    names: dict[str, object] = {"__name__": "__main__"}
    for number, cell in enumerate(code_cells(notebook), start=1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            value = _value("".join(cell["source"]), names)
        yield list(_outputs(printed.getvalue(), value, number))


def _value(source: str, names: dict[str, object]) -> object:
    """The value of the last line if that is an expression; None otherwise."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def _outputs(printed: str, value: object, number: int) -> Iterator[dict[str, Any]]:
    if printed:
        yield {"name": "stdout", "output_type": "stream", "text": _lines(printed)}
    if value is not None:
        data = {kind: _lines(content) for kind, content in _bundle(value).items()}
        result: dict[str, Any] = {"data": data, "execution_count": number, "metadata": {}}
        yield {**result, "output_type": "execute_result"}


def _bundle(value: object) -> dict[str, str]:
    """What a notebook stores of a value, by type."""
    if hasattr(value, "_repr_mimebundle_"):
        bundle: dict[str, str] = value._repr_mimebundle_()
        return bundle
    shown = {
        kind: getattr(value, method)()
        for method, kind in DISPLAYS.items()
        if hasattr(value, method)
    }
    return {**shown, "text/plain": repr(value)}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def write(path: Path, notebook: Mapping[str, Any]) -> None:
    """The notebook as Jupyter writes it."""
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
    path.write_text(f"{text}\n", encoding="utf-8")


def main(names: Sequence[str]) -> None:
    """Run the named notebooks, or all, and write them with their outputs."""
    for path in notebooks():
        if names and path.stem not in names:
            continue
        notebook = read(path)
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            results = list(run(notebook))
        for number, (cell, outputs) in enumerate(zip(code_cells(notebook), results, strict=True)):
            cell.update(outputs=outputs, execution_count=number + 1)
        write(path, notebook)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
