"""`bundle.join`: one script of all components, a scope for each module, shared ones once."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from attnviz.pictures.shared import bundle
from attnviz.pictures.shared.javascript import JavaScriptError
from tests.contracts.rules import KEPT_IN_THE_BROWSER, ONE_SOCKET, SVG

NAMES = bundle.component_names()
SOURCES = sorted([*bundle.FOLDER.glob("*/*.js"), *bundle.FOLDER.glob("*/*.css")])
# ways by which text becomes markup or code, or something is fetched
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|\beval\(|"
    r"new Function|https?:|//cdn|@import (?!\{)|url\((?!#)|\bfetch\(|XMLHttpRequest|WebSocket|"
    r"sendBeacon|localStorage|sessionStorage|document\.cookie"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the component `c` and a folder `shared` beside it."""
    for name in ("c", "shared"):
        (tmp_path / name).mkdir()
    return tmp_path


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_there_are_components() -> None:
    assert {"grid", "head", "steps"} <= set(NAMES)


def test_every_component_has_a_default_export() -> None:
    modules = bundle.modules_of(map(bundle.component_entry, NAMES))
    for name in NAMES:
        assert "default" in modules[bundle.component_entry(name)].exports


def test_join_keeps_each_module_once_and_reaches_all_of_them() -> None:
    of_hosts = ("address", "boot", "page", "unpack")  # what only hosts and saved pages import
    entries = {name: bundle.component_entry(name) for name in NAMES}
    hosts = {f"host_{name}": bundle.FOLDER / "shared" / f"{name}.js" for name in of_hosts}
    script = bundle.join({**entries, **hosts}).script
    assert script.count("function el(") == 1
    assert script.count("\nconst $") + 1 == len(list(bundle.FOLDER.glob("*/*.js")))


@pytest.mark.skipif(not shutil.which("node"), reason="no Node")
def test_join_makes_a_script_that_node_can_parse(tmp_path: Path) -> None:
    joined = bundle.join({name: bundle.component_entry(name) for name in NAMES})
    path = write(tmp_path, "joined.mjs", f"{joined.script}export const last = 1;\n")
    result = subprocess.run(["node", "--check", str(path)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_source_makes_markup_from_text_or_reaches_out(path: Path) -> None:
    name = path.relative_to(bundle.FOLDER.parents[1]).as_posix()
    source = path.read_text(encoding="utf-8").replace(ONE_SOCKET.get(name, "\n\n\n"), "", 1)
    if name in KEPT_IN_THE_BROWSER:
        source = source.replace("localStorage", "").replace("sessionStorage", "")
    assert not FORBIDDEN.search(source.replace(SVG, ""))


@pytest.mark.parametrize(
    "line",
    ['node.innerHTML = "<b>"', 'fetch("x")', 'import("https://cdn.example/x.js")', "url(a.png)"],
)
def test_the_search_for_forbidden_words_finds_them(line: str) -> None:
    assert FORBIDDEN.search(line)


@pytest.mark.parametrize(
    "path",
    [path for path in SOURCES if path.suffix == ".js"],
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_a_module_is_checked_described_and_short(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "// @ts-check"
    assert lines[1].startswith("// ")
    assert len(lines) <= 600


def test_join_puts_dependencies_first_each_in_its_scope(folder: Path) -> None:
    write(folder, "shared/a.js", "// why\nexport const a = 1, b = 2;\nconst own = 3;\n")
    write(folder, "shared/b.js", 'import { a as first } from "./a.js";\nexport const b = first;\n')
    entry = write(
        folder,
        "c/canvas.js",
        'import { a } from "../shared/a.js";\nimport { b } from "../shared/b.js";\nconst own = 4;\n'
        "/** Says. */\nexport default function c(x) {\n  return a + b; // that\n}\n",
    )
    joined = bundle.join({"c": entry})
    assert joined.entries == {"c": "$2"}
    assert joined.script == (
        "const $0 = (() => {\nconst a = 1, b = 2;\nconst own = 3;\nreturn { a, b };\n})();\n"
        "const $1 = (() => {\nconst { a: first } = $0;\nconst b = first;\nreturn { b };\n})();\n"
        "const $2 = (() => {\nconst { a } = $0;\nconst { b } = $1;\nconst own = 4;\n"
        "function c(x) {\nreturn a + b;\n}\nreturn { default: c };\n})();\n"
    )


def test_join_shares_what_two_entries_import(folder: Path) -> None:
    write(folder, "shared/a.js", "export const a = 1;\n")
    text = 'import { a } from "../shared/a.js";\nexport default a;\n'
    entries = {name: write(folder, f"c/{name}.js", text) for name in ("one", "two")}
    joined = bundle.join(entries)
    assert joined.entries == {"one": "$1", "two": "$2"}
    assert joined.script.count("const a = 1;") == 1


def test_a_name_that_is_not_exported_is_refused(folder: Path) -> None:
    write(folder, "shared/a.js", "export function one() {}\nexport function two() {}\n")
    entry = write(
        folder, "c/canvas.js", 'import { three } from "../shared/a.js";\nexport default 1;\n'
    )
    problem = r"c/canvas\.js imports three from shared/a\.js, which exports one, two"
    with pytest.raises(JavaScriptError, match=problem):
        bundle.join({"c": entry})


def test_modules_that_import_each_other_are_refused(folder: Path) -> None:
    write(folder, "shared/b.js", 'import { a } from "./a.js";\nexport const b = a;\n')
    path = write(folder, "shared/a.js", 'import { b } from "./b.js";\nexport const a = b;\n')
    with pytest.raises(JavaScriptError, match="a.js imports itself through shared/b.js"):
        bundle.join({"a": path})


def test_stylesheet_is_empty_where_a_component_has_none() -> None:
    assert bundle.stylesheet("shared").startswith("/* Shared look")
    assert ".av-grid" in bundle.stylesheet("grid")
    assert bundle.stylesheet("card_scroller") == ""


def test_a_script_borrows_the_modules_of_the_one_before_it(folder: Path) -> None:
    write(folder / "shared", "one.js", "export const one = 1;\n")
    first = write(
        folder / "c",
        "canvas.js",
        'import { one } from "../shared/one.js";\nexport const a = one;\n',
    )
    second = write(
        folder / "c",
        "later.js",
        'import { one } from "../shared/one.js";\nexport const b = one + 1;\n',
    )
    before = bundle.join({"c": first})
    later = bundle.join({"later": second}, before=before)
    assert later.borrowed == ("$0",) and later.entries == {"later": "$2"}
    assert "$2 = " in later.script and "$0 = (" not in later.script
