"""The joined scripts and styles of all components: whole, without clashes, without the network."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from attnviz.components import bundle
from tests.contracts.rules import ONE_SOCKET

NAMES = sorted(path.parent.name for path in bundle.FOLDER.glob("*/component.js"))
SOURCES = sorted([*bundle.FOLDER.glob("*/*.js"), *bundle.FOLDER.glob("*/*.css")])
# ways by which text becomes markup or code, or something is fetched
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|\beval\(|"
    r"new Function|https?:|//cdn|@import|url\(|\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon|"
    r"localStorage|sessionStorage|document\.cookie"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty components folder with one component `c`."""
    monkeypatch.setattr(bundle, "FOLDER", tmp_path)
    for name in ("c", "shared"):
        (tmp_path / name).mkdir()
    (tmp_path / "shared" / "style.css").write_text(".av {}\n", encoding="utf-8")
    bundle.script.cache_clear()
    bundle.stylesheet.cache_clear()
    yield tmp_path
    bundle.script.cache_clear()
    bundle.stylesheet.cache_clear()


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


def test_there_are_components() -> None:
    assert {"grid", "head"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_script_is_one_module_on_several_lines(name: str) -> None:
    script = bundle.script(name)
    assert "\n" in script.strip()  # one line would be taken for a path
    assert not re.search(r"^import\b", script, re.MULTILINE)
    assert re.findall(r"^export .*", script, re.MULTILINE) == re.findall(
        r"^export default function \w+\(.*", script, re.MULTILINE
    )
    assert bundle.stylesheet(name).startswith("/* Shared look")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_source_makes_markup_from_text_or_reaches_out(path: Path) -> None:
    allowed = ONE_SOCKET.get(path.relative_to(bundle.FOLDER.parents[1]).as_posix(), "\n\n\n")
    assert not FORBIDDEN.search(path.read_text(encoding="utf-8").replace(allowed, "", 1))


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
    assert len(lines) <= 400


def test_modules_come_once_dependencies_first(folder: Path) -> None:
    write(folder, "shared/a.js", "export const a = 1;\n")
    write(folder, "shared/b.js", 'import { a } from "./a.js";\nexport const b = a + 1;\n')
    write(
        folder,
        "c/component.js",
        '// @ts-check\nimport { a } from "../shared/a.js";\nimport { b } from "../shared/b.js";\n'
        "/**\n * Kept out.\n */\nexport default function c(/** @type {any} */ x) {\n"
        '  // nor this\n  return a + b + "// this";\n}\n',
    )
    assert bundle.script("c") == (
        "const a = 1;\n\nconst b = a + 1;\n\nexport default function c(x) {\n"
        '  return a + b + "// this";\n}\n'
    )


def test_a_name_defined_twice_is_refused(folder: Path) -> None:
    write(folder, "shared/a.js", "export function twice() {}\n")
    write(
        folder,
        "c/component.js",
        'import { twice } from "../shared/a.js";\nlet twice = 1;\nexport default function c() {}\n',
    )
    with pytest.raises(bundle.BundleError, match=r"twice is defined in a\.js and in component\.js"):
        bundle.script("c")


def test_modules_that_import_each_other_are_refused(folder: Path) -> None:
    write(folder, "shared/a.js", 'import { b } from "./b.js";\n')
    write(folder, "shared/b.js", 'import { a } from "./a.js";\n')
    write(
        folder,
        "c/component.js",
        'import { a } from "../shared/a.js";\nexport default function c() {}\n',
    )
    with pytest.raises(bundle.BundleError, match="imports itself"):
        bundle.script("c")


@pytest.mark.parametrize("text", ["const c = 1;\n", "\nexport default 1;\nexport default 2;\n"])
def test_one_default_export_is_needed(folder: Path, text: str) -> None:
    write(folder, "c/component.js", text)
    with pytest.raises(bundle.BundleError, match="exactly one default export"):
        bundle.script("c")


def test_a_component_adds_its_own_styles(folder: Path) -> None:
    write(folder, "c/component.css", ".c {}\n")
    assert bundle.stylesheet("c") == ".av {}\n.c {}\n"
