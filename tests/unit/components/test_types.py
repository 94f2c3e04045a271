"""The types of every component's data, held against what travels and what the modules use.

`demo.json` of a component is the header that its packing writes (each component's own test says
so); here TypeScript says that it is exactly the `Header` of `types.d.ts`: no field or text is
missing, none too many. What the modules ask of that header `tsc` checks in `make check`.
"""

import json
import re
import shutil
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

from attnviz import i18n
from attnviz.components import bundle

ROOT = bundle.FOLDER.parents[1]
TSC = ROOT / "node_modules" / ".bin" / "tsc"
NAMES = bundle.component_names()
has_tsc = pytest.mark.skipif(not shutil.which("node") or not TSC.exists(), reason="no Node")


def complaints(folder: Path, headers: dict[str, dict[str, object]]) -> str:
    """The errors of tsc when headers are written where their types are expected."""
    lines = []
    for name, header in headers.items():
        types = (bundle.FOLDER / name / "types.js").as_posix()
        lines.append(f'import type {{ Header as {name}Header }} from "{types}";')
        lines.append(f"export const {name}: {name}Header = {json.dumps(header)};")
    (folder / "demos.ts").write_text("\n".join(lines), encoding="utf-8")
    config = {"extends": str(ROOT / "tsconfig.json"), "files": ["demos.ts"], "include": []}
    (folder / "tsconfig.json").write_text(json.dumps(config), encoding="utf-8")
    command = [str(TSC), "--project", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def demo(name: str) -> dict[str, object]:
    header = json.loads((bundle.FOLDER / name / "demo.json").read_text(encoding="utf-8"))
    return {key: value for key, value in header.items() if key != "arrays"}


@has_tsc
def test_the_header_of_each_component_has_exactly_its_type(tmp_path: Path) -> None:
    assert complaints(tmp_path, {name: demo(name) for name in NAMES}) == ""


@has_tsc
def test_a_header_that_lacks_or_has_more_than_its_type_is_found(tmp_path: Path) -> None:
    header = demo("masks")
    strings = dict(header["strings"])  # type: ignore[call-overload]
    assert "later" in complaints(tmp_path, {"masks": {**header, "later": 1}})
    assert "later" in complaints(
        tmp_path, {"masks": {**header, "strings": {**strings, "later": "x"}}}
    )
    strings.pop("undraw")
    assert "undraw" in complaints(tmp_path, {"masks": {**header, "strings": strings}})


def reached(name: str) -> str:
    """The text of all modules that a component consists of."""
    modules = bundle.modules_of([bundle.component_entry(name)])
    return "".join(path.read_text(encoding="utf-8") for path in modules)


def unused(keys: set[str], source: str) -> set[str]:
    """The texts that no module names: whole, or by a prefix as in `edit_${mode}`."""
    prefixes = tuple(re.findall(r"`(\w+_)\$\{", source))
    named = set(re.findall(r"\w+", source))
    return {key for key in keys - named if not (prefixes and key.startswith(prefixes))}


@pytest.mark.parametrize("name", NAMES)
def test_every_text_of_a_component_exists_once_and_is_used(name: str) -> None:
    part = import_module(f"attnviz.components.{name}")
    keys: tuple[str, ...] = getattr(part, "STRING_KEYS", ())
    short = [key.rpartition(".")[2] for key in keys]
    assert len(set(short)) == len(short)
    assert all(i18n.has(f"component.{key}") for key in keys)
    named_by_data = json.dumps(
        {key: value for key, value in demo(name).items() if key != "strings"}
    )
    types = (bundle.FOLDER / name / "types.d.ts").read_text(encoding="utf-8")
    by_name = " ".join(re.findall(r"type (?:Colour|Form)Name =([^;]*);", types))
    assert unused(set(short), reached(name) + named_by_data + by_name) == set()


def test_a_text_that_no_module_names_is_found() -> None:
    assert unused({"hint", "edit_old", "x"}, "strings.hint; strings[`edit_${mode}`]") == {"x"}


def test_no_module_gives_up_on_types() -> None:
    loose = re.compile(r"@ts-nocheck|@ts-ignore|\{any\}|\{\*\}|[<:|,(\[] ?any\b[ \[>,)}|;]")
    files = [*ROOT.glob("attnviz/**/*.js"), *ROOT.glob("attnviz/**/*.d.ts")]
    assert len(files) > 100
    assert [path.name for path in files if loose.search(path.read_text(encoding="utf-8"))] == []
    for line in ("/** @param {any} x */", "x: any;", "Record<string, any>", "any[]".join("[]")):
        assert loose.search(line)
