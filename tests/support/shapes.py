"""The annotations that are enforced in tests: those that name the axes of an array.

Each check of a call costs 0.15 ms, its making 2.6 ms: at import, and for a function inside a
function whenever the outer one runs. Where no axes are named, mypy's look at the same annotations
is enough; a function that takes just any tensor may be called 64,000 times in a test, and such
checks were a third of the processor time of pages and oracles. What is checked are shapes and types
of what goes in and comes out: a call whose like has passed before is not checked again.
"""

import inspect
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from itertools import islice
from pathlib import Path
from types import FunctionType
from typing import Any

import jaxtyping
from jaxtyping import install_import_hook

ATTNVIZ = Path(__file__).parent.parent.parent / "attnviz"
UNCHECKED = frozenset({"app", "cli", "i18n", "notation", "errors", "summary"})
CHECKER = "beartype.beartype"
AXES = "jaxtyping."  # in the text of an annotation such as Float[Tensor, "query key"]
MOST_ITEMS = 8  # of a list or a mapping that are told apart
_jaxtyped = jaxtyping.jaxtyped
_checked_again = threading.local()


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
    if not names_axes(fn):
        return fn
    if isinstance(fn, FunctionType):
        return _once_for_each_kind(fn, partial(_jaxtyped, typechecker=typechecker))
    return _jaxtyped(fn, typechecker=typechecker)


def _once_for_each_kind(fn: FunctionType, check: Callable[[Any], Any]) -> Any:
    """The function, checked where no call of the same kind has passed."""
    passed: dict[Hashable, set[Hashable]] = {}

    @wraps(fn)
    def run(*args: Any, **kwargs: Any) -> Any:
        # a second check is of a result that is there: the function is not run again
        result = vars(_checked_again).pop("result", None)
        return fn(*args, **kwargs) if result is None else result[0]

    checked = check(run)

    @wraps(checked)
    def known(*args: Any, **kwargs: Any) -> Any:
        if jaxtyping.config.jaxtyping_disable:
            return fn(*args, **kwargs)
        given = kind(args), kind(kwargs)
        if given not in passed:
            result = checked(*args, **kwargs)
            passed[given] = {kind(result)}
            return result
        result = fn(*args, **kwargs)
        if (came := kind(result)) not in passed[given]:
            _checked_again.result = (result,)
            try:
                checked(*args, **kwargs)
            finally:
                vars(_checked_again).clear()
            passed[given].add(came)
        return result

    return known


def kind(value: Any) -> Hashable:
    """What a check of axes sees of a value: its type, of an array also its dtype and its shape."""
    of = type(value)
    if of is tuple or of is list:
        return (of, len(value), *map(kind, value[:MOST_ITEMS]))
    if of is dict:
        return (of, *((name, kind(item)) for name, item in islice(value.items(), MOST_ITEMS)))
    shape = getattr(value, "shape", None)
    return (of, getattr(value, "dtype", None), tuple(shape)) if isinstance(shape, tuple) else of


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
