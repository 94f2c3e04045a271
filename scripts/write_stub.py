"""Write the `__init__.pyi` of packages whose names are looked up on first use, for type checkers.

    python -m scripts.write_stub            # write the files
    python -m scripts.write_stub --check    # exit code 1 if one is not current

In: the table `_HOMES` in a package's `__init__.py`, which is parsed and not imported. A contract
test keeps the files current.
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def packages() -> list[str]:
    """The packages with such a table."""
    files = sorted((ROOT / "attnviz").rglob("__init__.py"))
    tables = [path for path in files if "_HOMES = {" in path.read_text(encoding="utf-8")]
    return [".".join(path.parent.relative_to(ROOT).parts) for path in tables]


def homes(package: str) -> dict[str, str]:
    """The names of a package, each with the module that defines it: a module with itself."""
    for node in ast.parse(_init(package).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES":
            table: dict[str, tuple[str, ...]] = ast.literal_eval(node.value)
            pairs = [(home, name) for home, names in table.items() for name in names]
            return {n: f"{home}.{n}" if home == package else home for home, n in pairs}
    raise LookupError(f"{package} has no _HOMES")


def stub(package: str) -> str:
    """The text of the file: an import for each name, in the order of their modules."""
    names = homes(package)
    modules = sorted(name for name, home in names.items() if home == f"{package}.{name}")
    lines = [f"from {package} import {name} as {name}\n" for name in modules]
    others = sorted((home, name) for name, home in names.items() if name not in modules)
    lines += [f"from {home} import {name} as {name}\n" for home, name in others]
    source = _init(package).relative_to(ROOT)
    first = f"# Written by `python -m scripts.write_stub` from {source}.\n\n"
    return first + "".join(lines) + ("\n__version__: str\n" if package == "attnviz" else "")


def _init(package: str) -> Path:
    return ROOT.joinpath(*package.split("."), "__init__.py")


def main(arguments: list[str]) -> int:
    """Write the files, or compare them; the exit code."""
    texts = {_init(package).with_suffix(".pyi"): stub(package) for package in packages()}
    if "--check" in arguments:
        return int(any(p.read_text(encoding="utf-8") != text for p, text in texts.items()))
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
