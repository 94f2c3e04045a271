"""Results that all sessions share: computed once for a key, kept within a bound.

In: a function. Out: the same function with a memory, of which the result that was asked for longest
ago goes first. Its key names every argument but those whose name begins with `_`: these are means
to compute the result, and an argument `key` beside them names all that determines it. Results are
shared, not copied: callers only read them. Whoever asks for what another thread computes waits for
that thread.
"""

import inspect
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import update_wrapper
from hashlib import sha256
from typing import Any, Generic, ParamSpec, Protocol, TypeVar
from weakref import WeakSet, WeakValueDictionary

from attnviz.types import ModelKey

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

MAX_KEY_CHARS = 2000


class Shared(Generic[Arguments, Result]):
    """A function with a memory of its `most` last results; created by `shared`."""

    def __init__(
        self,
        compute: Callable[Arguments, Result],
        most: int,
        on_release: Callable[[Result], object] | None,
    ) -> None:
        update_wrapper(self, compute)
        self._compute, self._most, self._on_release = compute, most, on_release
        self._signature = inspect.signature(compute)
        self._names = tuple(self._signature.parameters)
        self._kept: OrderedDict[str, Result] = OrderedDict()
        self._lock = threading.Lock()
        # the lock of a key lives while someone computes it or waits for it
        self._turns: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()

    def __call__(self, *arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        """The result for these arguments, from memory or computed now."""
        key = self.key(*arguments, **options)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            turn = self._turns.setdefault(key, threading.Lock())
        with turn:
            with self._lock:
                if key in self._kept:
                    return self._kept[key]
            result = self._compute(*arguments, **options)
            with self._lock:
                self._kept[key] = result
                n_over = max(0, len(self._kept) - self._most)
                gone = [self._kept.popitem(last=False)[1] for _ in range(n_over)]
        self._release(gone)
        return result

    def key(self, *arguments: Arguments.args, **options: Arguments.kwargs) -> str:
        """The key of these arguments, or its digest if it is long."""
        if len(arguments) == len(self._names) and not options:
            return _key_of(zip(self._names, arguments, strict=True))  # as `bind` has it, in a tenth
        return self._key(self._signature.bind(*arguments, **options))

    def keeps(self, *arguments: object) -> bool:
        """True if the result for these arguments is in memory; those that no key names may go."""
        return self._key(self._signature.bind_partial(*arguments)) in self._kept

    def forget(self, *arguments: object) -> None:
        """Let go of the result for these arguments; those that no key names may be left out."""
        key = self._key(self._signature.bind_partial(*arguments))
        with self._lock:
            gone = [self._kept.pop(key)] if key in self._kept else []
        self._release(gone)

    def clear(self) -> None:
        """Let go of all results."""
        with self._lock:
            gone = [*self._kept.values()]
            self._kept.clear()
        self._release(gone)

    def _key(self, bound: inspect.BoundArguments) -> str:
        bound.apply_defaults()
        return _key_of(bound.arguments.items())

    def _release(self, gone: list[Result]) -> None:
        """Tell of results that have gone, when no lock is held any more."""
        if self._on_release is not None:
            for result in gone:
                self._on_release(result)


def _key_of(arguments: Iterable[tuple[str, object]]) -> str:
    named = (item for item in arguments if not item[0].startswith("_"))
    key = ", ".join(f"{name}={key_part(value)}" for name, value in named)
    return key if len(key) <= MAX_KEY_CHARS else sha256(key.encode("utf-8")).hexdigest()


class _Decorator(Protocol):
    def __call__(self, compute: Callable[Arguments, Result], /) -> Shared[Arguments, Result]: ...


_all: WeakSet[Shared[..., Any]] = WeakSet()
_of_models: WeakSet[Shared[..., Any]] = WeakSet()


def shared(
    *,
    most: int,
    on_release: Callable[[Any], object] | None = None,
    holds_model: bool = False,
) -> _Decorator:
    """A decorator that gives a function a memory of its `most` last results.

    `on_release` is called with each result that goes. `holds_model` says that results point into
    the weights of a model: they go when a model goes.
    """

    def decorate(compute: Callable[Arguments, Result], /) -> Shared[Arguments, Result]:
        function = Shared(compute, most, on_release)
        _all.add(function)
        if holds_model:
            _of_models.add(function)
        return function

    return decorate


def forget_of_models(_model: object) -> None:
    """Let go of all results that point into the weights of a model, as a model has gone."""
    for function in [*_of_models]:
        function.clear()


def clear_all() -> None:
    """Let go of all results."""
    for function in [*_all]:
        function.clear()


def key_part(value: object) -> str:
    """An argument as part of a key: equal for two values only if they determine the same.

    What has an identity as its `key`, a text or a model's, is represented by that (the `key` of a
    cut is a token's place, one part of several); arrays and pictures by the digest of their bytes.
    Raises `TypeError` for a value that cannot be told apart from others.
    """
    if value is None or isinstance(value, bool | int | float | str | Enum):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(key_part, value))}]"
    if isinstance(value, Mapping):
        parts = sorted(f"{key_part(name)}: {key_part(part)}" for name, part in value.items())
        return f"{{{', '.join(parts)}}}"
    if isinstance(own := getattr(value, "key", None), str | ModelKey):
        return f"{type(value).__name__}({own})"
    if callable(pixels := getattr(value, "tobytes", None)):
        shape = getattr(value, "shape", getattr(value, "size", ""))
        kind = getattr(value, "dtype", getattr(value, "mode", ""))
        return f"{kind} {shape} {sha256(pixels()).hexdigest()}"
    if is_dataclass(value) and not isinstance(value, type):
        parts = [f"{field.name}={key_part(getattr(value, field.name))}" for field in fields(value)]
        return f"{type(value).__name__}({', '.join(parts)})"
    raise TypeError(f"a {type(value).__name__} cannot be part of a key")
