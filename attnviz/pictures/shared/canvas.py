"""The data of a canvas: a frozen dataclass, packed in one way for all of them.

In: a view, the dataclass that says what a picture shows, and a language. Out: the bytes that its
canvas reads, laid out by `buffer`.
- Fields travel under their own names: arrays as arrays (booleans as 0 and 1), the rest as JSON.
- Arrays of an inner dataclass are named by the way to them, "detail.profile", "groups.0.weights";
  those of a mapping by its keys. An array that is None is left out.
- A property marked `derived` travels like a field.
- The markers below, in an `Annotated` hint, say what travels otherwise.
The TypeScript of these rules is written by `python -m scripts.write_canvas_types`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from types import MappingProxyType, UnionType
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin
from typing import get_type_hints as type_hints

import numpy as np

from attnviz import i18n
from attnviz.pictures.shared.buffer import Lower, Sent, SomeHeads, pack, packable, roots_of

View = TypeVar("View")
Value = TypeVar("Value")


class Marker(Enum):
    """The ways of a field that does not travel under its name."""

    LOCAL = "stays on the server"
    INLINE = "its fields travel as fields of the view around it"
    LISTED = "an array in JSON"
    ROWS = "dataclasses as lists of their values, −1 for an index that is None"


@dataclass(frozen=True)
class Encoded:
    """An array that travels in the form that `encode` gives it: of a view and a field's value.

    `exact` is True if that form has the numbers themselves, as 32-bit floats.
    """

    encode: Callable[[Any, Any], Sent | None]
    exact: bool = False


@dataclass(frozen=True)
class Prefix:
    """A prefix of the names of the arrays of a mapping."""

    text: str


LOCAL, INLINE, LISTED, ROWS = Marker.LOCAL, Marker.INLINE, Marker.LISTED, Marker.ROWS


def roots(bits: Literal[8, 16]) -> Encoded:
    """Weights as square roots in 8 or 16 bits."""
    return Encoded(lambda _, weights: roots_of(weights, bits))


def heads(bits: Literal[8, 16]) -> Encoded:
    """The weights [layer, head, query, key] as square roots, without the future of a causal one."""
    return Encoded(lambda _, weights: None if weights is None else packable(weights, bits))


class derived(Generic[Value]):
    """A property of a view that travels with its fields."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __get__(self, view: object, owner: type) -> Value:
        return self.compute(view)


@dataclass(frozen=True)
class Canvas(Generic[View]):
    """A picture that browsers draw: its folder here, and the classes of what it shows.

    `mounts` names the canvases that it draws inside of itself, whose style sheets it needs.
    """

    name: str
    views: tuple[type[View], ...]
    mounts: tuple[str, ...] = ()

    @property
    def element(self) -> str:
        """The name under which a host knows it."""
        return f"attnviz.{self.name}"


@dataclass(frozen=True)
class SentPart:
    """A field or derived property of a view, with its type and markers."""

    name: str
    hint: Any
    markers: tuple[object, ...]

    @property
    def encoder(self) -> Encoded | None:
        """The form in which its array travels, None where that is its own."""
        return next((marker for marker in self.markers if isinstance(marker, Encoded)), None)

    @property
    def prefix(self) -> str:
        """The prefix of the names of its arrays, if it is a mapping of them."""
        return next((marker.text for marker in self.markers if isinstance(marker, Prefix)), "")


@dataclass(frozen=True, eq=False)
class SentView:
    """A view as its canvas is sent it: all texts, the fields that are no arrays, and the arrays."""

    texts: Mapping[str, str]
    header: Mapping[str, object]
    arrays: Mapping[str, Sent]

    def packed(self) -> bytes:
        """One byte string, laid out by `buffer`."""
        return pack({"strings": dict(self.texts), **self.header}, self.arrays)


def sent(canvas: Canvas[View], view: View, lang: i18n.Language) -> SentView:
    """A view as its canvas gets it, before it is packed."""
    arrays: dict[str, Sent] = {}
    header = _header(view, "", arrays)
    return SentView(texts(canvas.name, lang), header, arrays)


def packed(canvas: Canvas[View], view: View, lang: i18n.Language) -> bytes:
    """The bytes of a view, with all texts of its canvas."""
    return sent(canvas, view, lang).packed()


def plain(view: object) -> Mapping[str, object]:
    """A view without arrays as JSON has it, without texts of a canvas."""
    arrays: dict[str, Sent] = {}
    header = _header(view, "", arrays)
    assert not arrays, f"{type(view).__name__} has arrays"
    return header


@cache
def texts(name: str, lang: i18n.Language) -> Mapping[str, str]:
    """The texts below `component.<name>.` and those that canvases share, by what follows that."""
    shared = i18n.section(lang, "component.shared")
    own = f"component.{name}."
    mine = {key: text for key, text in i18n.catalogue(lang).items() if key.startswith(own)}
    return MappingProxyType(shared | {key.removeprefix(own): mine[key] for key in mine})


@cache
def parts_of(view_class: type) -> tuple[SentPart, ...]:
    """The fields and properties of a view that travel, in the order of its class."""
    hints = type_hints(view_class, include_extras=True)
    parts = [_part(field.name, hints[field.name]) for field in fields(view_class)]
    for name, member in vars(view_class).items():
        if isinstance(member, derived):
            parts.append(_part(name, type_hints(member.compute, include_extras=True)["return"]))
    return tuple(part for part in parts if LOCAL not in part.markers)


def _part(name: str, hint: Any) -> SentPart:
    if get_origin(hint) is Annotated:
        inner, *markers = get_args(hint)
        return SentPart(name, inner, tuple(markers))
    return SentPart(name, hint, ())


def is_array(hint: Any) -> bool:
    """True for the type of an array, or of one that may be None."""
    if get_origin(hint) in (Union, UnionType):
        return all(part is type(None) or is_array(part) for part in get_args(hint))
    return hint in (Lower, SomeHeads) or hasattr(hint, "dim_str")  # as jaxtyping's annotations have


def is_array_mapping(hint: Any) -> bool:
    """True for the type of a mapping of names to arrays."""
    return get_origin(hint) is Mapping and is_array(get_args(hint)[1])


def _header(view: Any, way: str, arrays: dict[str, Sent]) -> dict[str, object]:
    """The fields of a view that are no arrays; its arrays are put among the others."""
    header: dict[str, object] = {}
    for part in parts_of(view.__class__):
        value, name = getattr(view, part.name), f"{way}{part.name}"
        if INLINE in part.markers:
            header |= _header(value, way, arrays)
        elif LISTED in part.markers:
            header[part.name] = np.asarray(value, int).tolist()
        elif ROWS in part.markers:
            rows = (vars(row).values() for row in value)
            header[part.name] = [[-1 if cell is None else cell for cell in row] for row in rows]
        elif part.encoder is not None:
            _put(arrays, name, part.encoder.encode(view, value))
        elif is_array(part.hint):
            _put(arrays, name, value)
        elif is_array_mapping(part.hint):
            for key, array in value.items():
                _put(arrays, f"{part.prefix}{key}", array)
        else:
            header[part.name] = _json(value, name, arrays)
    return header


def _put(arrays: dict[str, Sent], name: str, array: Any) -> None:
    if array is None:
        return
    assert name not in arrays, f"two arrays are called {name}"
    boolean = isinstance(array, np.ndarray) and array.dtype == np.bool_
    arrays[name] = array.astype(np.uint8) if boolean else array


def _json(value: Any, way: str, arrays: dict[str, Sent]) -> object:
    """A value as JSON has it."""
    if is_dataclass(value):
        return _header(value, f"{way}.", arrays)
    if isinstance(value, Mapping):
        return {str(key): _json(item, f"{way}.{key}", arrays) for key, item in value.items()}
    if isinstance(value, (frozenset, set)):
        value = sorted(value)
    if isinstance(value, (tuple, list)):
        return [_json(item, f"{way}.{place}", arrays) for place, item in enumerate(value)]
    return value.item() if isinstance(value, np.generic) else value
