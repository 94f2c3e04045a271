"""`modules.read_module`: the imports and exports that it reads, and every form that it refuses."""

from collections.abc import Callable
from pathlib import Path

import pytest

from attnviz.pictures.shared.javascript import JavaScriptError
from attnviz.pictures.shared.modules import Module, read_module

Read = Callable[[str], Module]


@pytest.fixture
def module(tmp_path: Path) -> Read:
    """Reads a source as the module `c/canvas.js`, beside which `x.js` lies."""
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "x.js").write_text("export const a = 1;\n", encoding="utf-8")

    def read(source: str) -> Module:
        path = folder / "canvas.js"
        path.write_text(source, encoding="utf-8")
        return read_module(path)

    return read


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ('import { a } from "./x.js";', {"a": "a"}),
        ("import { a } from './x.js';", {"a": "a"}),
        ('import { a, b as c } from "./x.js";', {"a": "a", "c": "b"}),
        ('import {\n  a,\n  b,\n} from "./x.js";', {"a": "a", "b": "b"}),
        ('import a from "./x.js";', {"a": "default"}),
        ('import a, { b } from "./x.js";', {"a": "default", "b": "b"}),
        ('import { a } /* b */ from "../c/x.js"; // why', {"a": "a"}),
        ('import { default as a } from "./x.js";', {"a": "default"}),
    ],
)
def test_imports(module: Read, source: str, names: dict[str, str]) -> None:
    read = module(f"{source}\nf();\n")
    (imported,) = read.imports
    assert imported.path.name == "x.js" and imported.names == names
    assert read.code == "f();\n"


@pytest.mark.parametrize(
    ("source", "exports", "code"),
    [
        ("export const a = 1;", {"a": "a"}, "const a = 1;\n"),
        ("export const a = 1, b = [2, 3];", {"a": "a", "b": "b"}, "const a = 1, b = [2, 3];\n"),
        ("export const a = (x, y) => { x; return y; }, b = 2;", {"a": "a", "b": "b"}, None),
        ("export function f() {}", {"f": "f"}, "function f() {}\n"),
        ("export async function f() {}", {"f": "f"}, "async function f() {}\n"),
        ("export function* f() {}", {"f": "f"}, "function* f() {}\n"),
        ("export class C {}", {"C": "C"}, "class C {}\n"),
        ("const a = 1, b = 2;\nexport { a, b as c };", {"a": "a", "c": "b"}, None),
        ("export default function f() {}", {"default": "f"}, "function f() {}\n"),
        ("export default f;", {"default": "$default"}, "const $default = f;\n"),
        ("export default { a: 1, b };", {"default": "$default"}, "const $default = { a: 1, b };\n"),
        ("const o = { import: 1, export: 2 };\no.import;", {}, None),
        ('const t = "export default 1;";', {}, 'const t = "export default 1;";\n'),
        ("const t = `\n// kept\n`; // gone", {}, "const t = `\n// kept\n`;\n"),
        ("async function f() { await g(); }", {}, "async function f() { await g(); }\n"),
    ],
)
def test_exports(module: Read, source: str, exports: dict[str, str], code: str | None) -> None:
    read = module(source)
    assert read.exports == exports
    if code is None:
        code = f"{source}\n".replace("export { a, b as c };\n", "").replace("export const", "const")
    assert read.code == code


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ('import * as x from "./x.js";', r"\* where from belongs|an import without names"),
        ('import "./x.js";', "an import without names"),
        ('import { a, a } from "./x.js";', "a is imported twice"),
        ('import { "a" as b } from "./x.js";', "where a name belongs"),
        ('import { a } from "x";', "is no file beside it"),
        ('import { a } from "https://example.org/x.js";', "is no file beside it"),
        ('import { a } from "./y.js";', r"there is no \"./y.js\""),
        ('import { a } from "./x.js" with { type: "json" };', "with where ; belongs"),
        ('import { a } from "./x.js"\nf();', "f where ; belongs"),
        ('const x = import("./x.js");', "inside of a statement"),
        ("const x = import.meta.url;", "inside of a statement"),
        ("export let a = 1;", "export let"),
        ("export var a = 1;", "export var"),
        ("export const { a } = f();", "takes a value apart"),
        ("export const [a] = f();", "takes a value apart"),
        ("export const a;", "exported without a value"),
        ("export const a = 1\nconst b = 2;", "without a semicolon"),
        ("export default f", "without a semicolon"),
        ("export default function () {}", "without a name"),
        ("export default class {}", "without a name"),
        ('export * from "./x.js";', r"export \*"),
        ('export { a } from "./x.js";', "from where ; belongs"),
        ("export const a = 1;\nexport { a };", "a is exported twice"),
        ("export default f;\nexport default g;", "default is exported twice"),
        ("{ export const a = 1; }", "export inside of a statement"),
        ("const a = await f();", "await outside of a function"),
        ("const $0 = 1;", "are the bundle's own"),
        ("export {", "never closed"),
    ],
)
def test_a_form_that_is_not_known_is_refused(module: Read, source: str, problem: str) -> None:
    with pytest.raises(JavaScriptError, match=f"^c/canvas.js, line .*{problem}"):
        module(source)
