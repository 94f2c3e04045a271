"""Names of a package that are looked up on first use (PEP 562), not at its import, and results
that are worked out at the first question (a leaf).

    __getattr__, __dir__, __all__ = names(__name__, _HOMES)

In: a package's table of its names by the module that defines them. `python -m scripts.write_stub`
writes the same as imports into its `__init__.pyi`, for editors and type checkers.
"""

import sys
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Generic, Self, TypeVar

Result = TypeVar("Result")


def names(
    package: str, homes: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a package.

    Names below the package itself are its modules. A name that was looked up stays in the package.
    """
    home_of = {name: home for home, defined in homes.items() for name in defined}
    public = sorted(home_of)

    def look_up(name: str) -> object:
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home == package:
            return import_module(f"{package}.{name}")  # which binds it in the package
        value: object = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return look_up, lambda: public, public


class Later(Generic[Result]):
    """A result that is worked out at the first question, once for all threads that ask.

    What the work raises is raised at each question.
    """

    def __init__(self, work: Callable[[], Result]) -> None:
        self._work: Callable[[], Result] | None = work
        self._lock = threading.Lock()

    def __call__(self) -> Result:
        """The result."""
        with self._lock:
            if self._work is not None:
                self._result = self._work()
                self._work = None
        return self._result


class FilledLater:
    """A dataclass of which some fields are worked out together, when the first of them is read."""

    @classmethod
    def later(cls, work: Callable[[], Mapping[str, object]], **known: object) -> Self:
        """An object with some known fields; `work` gives the others, which have no default."""
        made = object.__new__(cls)
        vars(made).update(known, _later=Later(work))
        return made

    def __getstate__(self) -> dict[str, object]:
        self._fill()
        return dict(vars(self))

    def _fill(self) -> None:
        own = vars(self)
        later = own.get("_later")
        if later is not None:
            for name, value in later().items():
                own.setdefault(name, value)
            own.pop("_later", None)

    if not TYPE_CHECKING:  # to which any name would be a field

        def __getattr__(self, name: str) -> object:
            if name in type(self).__dataclass_fields__:
                self._fill()
            try:
                return vars(self)[name]
            except KeyError:
                cls = type(self).__name__
                raise AttributeError(f"{cls!r} object has no attribute {name!r}") from None
