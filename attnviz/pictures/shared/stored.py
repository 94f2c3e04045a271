"""Views that come with the package, measured beforehand, so that nobody waits for them.

In: a frozen dataclass of a picture. Out: it as JSON, and back. Arrays are nested lists; without
`decimals` a number has as many digits as give it back exactly.
"""

import json
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from functools import partial
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

View = TypeVar("View")


def as_text(view: object, decimals: int | None = None) -> str:
    """A view as JSON."""
    plain = partial(_plain, decimals)
    return json.dumps(view, default=plain, ensure_ascii=False, separators=(",", ":")) + "\n"


def read(kind: type[View], text: str) -> View:
    """The view of this class that was stored."""
    view: View = _value(kind, json.loads(text))
    return view


def is_same(view: object, other: object, within: float) -> bool:
    """True if two views are equal but for numbers that differ by no more than this."""
    if is_dataclass(view) and type(view) is type(other):
        names = (field.name for field in fields(view))
        return all(is_same(getattr(view, name), getattr(other, name), within) for name in names)
    if isinstance(view, np.ndarray | float) or _holds_floats(view):
        left, right = np.asarray(view, float), np.asarray(other, float)
        return left.shape == right.shape and np.allclose(left, right, rtol=0, atol=within)
    return view == other


def _holds_floats(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(part, float) for part in value)


def _plain(decimals: int | None, value: Any) -> object:
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if decimals is not None:
        return np.round(value.astype(float), decimals).tolist()
    exact = value.astype(str).astype(float) if value.dtype.kind == "f" else value
    return exact.tolist()


def _value(hint: Any, value: Any) -> Any:
    """A value of JSON as its hint has it."""
    if value is None or not isinstance(value, list | dict):
        return value
    if get_origin(hint) in (Union, UnionType):  # of a class or None
        hint = next(part for part in get_args(hint) if part is not type(None))
    if isinstance(value, dict):
        hints = get_type_hints(hint)
        return hint(**{name: _value(hints[name], part) for name, part in value.items()})
    dtypes: Iterable[str] = getattr(hint, "dtypes", ())
    for dtype in dtypes:
        return np.array(value, dtype)
    return _tuples(value)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
