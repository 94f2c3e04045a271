"""Write attnviz/__init__.pyi: the public names as imports, for editors and type checkers.

    python -m scripts.write_stub            # write the file
    python -m scripts.write_stub --check    # exit code 1 if the file is not current

In: the table of names in attnviz/__init__.py, which is parsed and not imported. A contract test
keeps the file current.
"""

import ast
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "attnviz"
TARGET = PACKAGE / "__init__.pyi"
INTRO = "# Written by `python -m scripts.write_stub` from attnviz/__init__.py.\n\n"


def homes() -> dict[str, str]:
    """The public names, each with the module that defines it."""
    for node in ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOME":
            names: dict[str, str] = ast.literal_eval(node.value)
            return names
    raise LookupError("attnviz/__init__.py has no _HOME")


def stub() -> str:
    """The text of the file: an import for each name, in the order of their modules."""
    names = homes()
    modules = sorted(name for name, home in names.items() if home == f"attnviz.{name}")
    lines = [f"from attnviz import {name} as {name}\n" for name in modules]
    others = sorted((home, name) for name, home in names.items() if name not in modules)
    lines += [f"from {home} import {name} as {name}\n" for home, name in others]
    return INTRO + "".join(lines) + "\n__version__: str\n"


def main(arguments: list[str]) -> int:
    """Write the file, or compare it; the exit code."""
    text = stub()
    if "--check" in arguments:
        return int(TARGET.read_text(encoding="utf-8") != text)
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
