"""The rooms whose annotations are enforced in tests: those in which arrays are computed.

Each call of a checked function costs 0.15 ms, each function inside a function 2.6 ms whenever it is
made. In the rooms that handle texts, pages and commands, mypy's look at the same annotations is
enough: with them, half of the processor time of `tests/pages` went into checks of text functions.
"""

from pathlib import Path

from jaxtyping import install_import_hook

ATTNVIZ = Path(__file__).parent.parent.parent / "attnviz"
UNCHECKED = frozenset({"ui", "cli", "i18n", "lessons", "notation", "errors", "summary"})
CHECKER = "beartype.beartype"


def checked_rooms() -> list[str]:
    """The names of the packages and modules right below attnviz that are checked."""
    rooms = [
        path.stem
        for path in ATTNVIZ.iterdir()
        if (path.suffix == ".py" and path.stem[:2] != "__") or (path / "__init__.py").exists()
    ]
    return sorted(f"attnviz.{room}" for room in rooms if room not in UNCHECKED)


def check_shapes() -> None:
    """Enforce the annotations of every checked room that is imported from now on."""
    install_import_hook(checked_rooms(), CHECKER)
