"""Joins ES modules into one script without a build tool, each module with a scope of its own.

In: entry modules by name. Out: a script in which every module that they reach stands once, after
those that it imports, as a function whose result is its exports:

    const $0 = (() => { … return { a, b }; })();
    const $1 = (() => { const { a, b: c } = $0; … return { default: f }; })();

So no two modules can clash, and several components share what both import. Imports of names that a
module does not export, and modules that import each other, are refused. `modules` says which forms
of import and export are read.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from attnviz.pictures.shared.javascript import JavaScriptError
from attnviz.pictures.shared.modules import Import, Module, read_module

FOLDER = Path(__file__).parents[1]
SHARED = "shared"


@dataclass(frozen=True)
class Bundle:
    """A script, and for each entry the constant of the script that holds its exports.

    `constants` has the constant of every module, and `borrowed` those of another script that this
    one reads.
    """

    script: str
    entries: Mapping[str, str]
    constants: Mapping[Path, str]
    borrowed: tuple[str, ...] = ()


def component_names() -> tuple[str, ...]:
    """The folders that hold a component, sorted."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob("*/canvas.js")))


def component_entry(name: str) -> Path:
    """The module whose default export is the component."""
    return FOLDER / name / "canvas.js"


def join(entries: Mapping[str, Path], before: Bundle | None = None) -> Bundle:
    """The script of these modules and of all that they import, but what is in the one before it."""
    modules = modules_of(entries.values())
    known = {} if before is None else before.constants
    own = [module for path, module in modules.items() if path not in known]
    constants = {**known, **{module.path: f"${len(known) + i}" for i, module in enumerate(own)}}
    pieces = [_scope(module, modules, constants) for module in own]
    imported = {used.path for module in own for used in module.imports}
    borrowed = tuple(constant for path, constant in known.items() if path in imported)
    names = {name: constants[path.resolve()] for name, path in entries.items()}
    return Bundle("".join(pieces), names, constants, borrowed)


def modules_of(entries: Iterable[Path]) -> dict[Path, Module]:
    """The modules and everything they import, dependencies first, each once."""
    modules: dict[Path, Module] = {}

    def visit(path: Path, above: tuple[Path, ...]) -> None:
        if path in above:
            raise JavaScriptError(f"{_name(path)} imports itself through {_name(above[-1])}")
        if path in modules:
            return
        module = read_module(path)
        for imported in module.imports:
            visit(imported.path, (*above, path))
        modules[path] = module

    for entry in entries:
        visit(entry.resolve(), ())
    return modules


@cache
def stylesheet(name: str) -> str:
    """The style sheet of a component, "" if it has none; `shared` is the one of all."""
    path = FOLDER / name / ("style.css" if name == SHARED else "canvas.css")
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _scope(module: Module, modules: Mapping[Path, Module], constants: Mapping[Path, str]) -> str:
    lines = [f"const {constants[module.path]} = (() => {{"]
    for imported in module.imports:
        _refuse_missing(module, imported, modules[imported.path])
        pairs = (_pair(outside, inside) for inside, outside in imported.names.items())
        lines.append(f"const {{ {', '.join(pairs)} }} = {constants[imported.path]};")
    lines.append(module.code.rstrip("\n"))
    exported = (_pair(outside, inside) for outside, inside in module.exports.items())
    lines.append(f"return {{ {', '.join(exported)} }};\n}})();\n")
    return "\n".join(lines)


def _pair(key: str, value: str) -> str:
    return key if key == value else f"{key}: {value}"


def _refuse_missing(module: Module, imported: Import, target: Module) -> None:
    missing = [name for name in imported.names.values() if name not in target.exports]
    if missing:
        raise JavaScriptError(
            f"{_name(module.path)} imports {', '.join(missing)} from {_name(target.path)}, "
            f"which exports {', '.join(sorted(target.exports)) or 'nothing'}"
        )


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
