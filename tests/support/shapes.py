"""The annotations that are enforced in tests: those that name the axes of an array.

Each call of a checked function costs 0.15 ms, its making 2.6 ms: at import, and for a function
inside a function whenever the outer one runs. Where no axes are named, mypy's look at the same
annotations is enough; a function that takes just any tensor may be called 64,000 times in a test,
and such checks were a third of the processor time of pages and oracles.
"""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import jaxtyping
from jaxtyping import install_import_hook

ATTNVIZ = Path(__file__).parent.parent.parent / "attnviz"
UNCHECKED = frozenset({"app", "cli", "i18n", "notation", "errors", "summary"})
CHECKER = "beartype.beartype"
AXES = "jaxtyping."  # in the text of an annotation such as Float[Tensor, "query key"]
_jaxtyped = jaxtyping.jaxtyped


def checked_rooms() -> list[str]:
    """The names of the packages and modules right below attnviz that are checked."""
    rooms = [
        path.stem
        for path in ATTNVIZ.iterdir()
        if (path.suffix == ".py" and path.stem[:2] != "__") or (path / "__init__.py").exists()
    ]
    return sorted(f"attnviz.{room}" for room in rooms if room not in UNCHECKED)


def check_shapes() -> None:
    """Enforce the annotations about axes of every checked room that is imported from now on."""
    jaxtyping.jaxtyped = _jaxtyped_if_of_axes
    install_import_hook(checked_rooms(), CHECKER)


def _jaxtyped_if_of_axes(fn: Any = None, *, typechecker: Any) -> Any:
    """The decorator that the import hook writes above functions and classes."""
    if fn is None:
        return partial(_jaxtyped_if_of_axes, typechecker=typechecker)
    return _jaxtyped(fn, typechecker=typechecker) if names_axes(fn) else fn


@contextmanager
def unchecked() -> Iterator[None]:
    """Calls as users make them, whose wrong arguments the library refuses itself."""
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)


def names_axes(fn: Any) -> bool:
    """True if an annotation of a function, a property or the fields of a class names axes."""
    if isinstance(fn, property):
        return any(names_axes(part) for part in (fn.fget, fn.fset) if part is not None)
    annotations = getattr(inspect.unwrap(fn), "__annotations__", {})
    return any(AXES in str(of) for of in annotations.values())
