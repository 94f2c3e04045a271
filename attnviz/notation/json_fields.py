"""Untrusted JSON, read one value at a time: each is checked as it is taken.

In: what `json.loads` made of a file. Out: values of the type that was asked for. Anything else is
`Malformed`, whose message names the place, such as `calls[3].inputs.scaling`, what stands there and
what may stand there.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Never

MAX_COUNTED = 2**40  # no file has more elements
DESCRIPTION = "the description"


class Malformed(Exception):
    """A file that does not say what it must; caught where the file's name is known."""


def parsed(text: str) -> "Field":
    """The JSON of a text; `Malformed` where it is not JSON, or holds NaN or infinity."""
    try:
        return Field(json.loads(text, parse_constant=_refuse_constant), "")
    except (ValueError, RecursionError) as error:
        raise Malformed(f"its description is not JSON: {error}") from error


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is not a number")


@dataclass(frozen=True)
class Field:
    """One value of the JSON and the place where it stands."""

    value: object
    place: str

    def refuse(self, allowed: str) -> Never:
        """Raise `Malformed` with the place, the value that was found and what is allowed."""
        shown = f"a {type(self.value).__name__}"
        if not isinstance(self.value, dict | list):
            shown = ascii(self.value)
        shortened = shown if len(shown) <= 60 else f"{shown[:57]}..."
        raise Malformed(f"{self.place or DESCRIPTION} is {shortened}; it must be {allowed}")

    def record(self, *names: str) -> dict[str, "Field"]:
        """The entries of an object that has these names and no others."""
        entries = self.entries()
        missing = [name for name in names if name not in entries]
        unknown = [name for name in entries if name not in names]
        if missing or unknown:
            problem = f"no {missing[0]!r}" if missing else f"an unknown entry {unknown[0]!a:.60}"
            raise Malformed(f"{self.place or DESCRIPTION} has {problem}")
        return entries

    def entries(self) -> dict[str, "Field"]:
        """The entries of an object, whatever their names."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        before = f"{self.place}." if self.place else ""
        # a name may be anything: a message shows its beginning in plain characters
        return {
            name: Field(value, f"{before}{ascii(name)[1:-1][:60]}")
            for name, value in self.value.items()
        }

    def rows(self, length: int | None = None) -> tuple["Field", ...]:
        """The values of a list, of this length where one is given."""
        return tuple(
            Field(value, f"{self.place}[{number}]")
            for number, value in enumerate(self._listed(length))
        )

    def texts(self, length: int | None = None) -> tuple[str, ...]:
        """A list of strings; as `text`, and quick for many."""
        values = self._listed(length)
        if not all(type(value) is str for value in values) or _has_surrogates("".join(values)):
            for row in self.rows():
                row.text()
        return tuple(values)

    def wholes(self, length: int | None = None, *, least: int = 0, most: int) -> list[int]:
        """A list of whole numbers from `least` to `most`; as `whole`, and quick for many."""
        values = self._listed(length)
        if not all(type(value) is int and least <= value <= most for value in values):
            for row in self.rows():
                row.whole(least, most)
        return values

    def _listed(self, length: int | None) -> list[Any]:
        if not isinstance(self.value, list):
            self.refuse("a list")
        if length is not None and len(self.value) != length:
            raise Malformed(f"{self.place} has {len(self.value)} entries; it must have {length}")
        return self.value

    def optional(self) -> "Field | None":
        """The field, or None where null stands."""
        return None if self.value is None else self

    def text(self) -> str:
        """A string that can be encoded; lone surrogates cannot."""
        if not isinstance(self.value, str):
            self.refuse("a text")
        if _has_surrogates(self.value):
            self.refuse("a text without lone surrogates")
        return self.value

    def one_of(self, *allowed: str) -> str:
        """One of these texts."""
        if not isinstance(self.value, str) or self.value not in allowed:
            self.refuse(f"one of {', '.join(allowed)}")
        return self.value

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            self.refuse("true or false")
        return self.value

    def whole(self, least: int = 0, most: int = MAX_COUNTED) -> int:
        """A whole number from `least` to `most`."""
        value = self.value
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            self.refuse(f"a whole number from {least} to {most}")
        return value

    def number(self) -> float:
        """A finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.refuse("a number")
        try:
            number = float(self.value)
        except OverflowError:
            self.refuse("a finite number")
        if not math.isfinite(number):
            self.refuse("a finite number")
        return number


def _has_surrogates(text: str) -> bool:
    """True if the text has a lone surrogate: half a character, that no encoding carries."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def finite(value: object) -> object:
    """The same value with null for every number that JSON cannot hold: NaN and infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): finite(part) for name, part in value.items()}
    return [finite(part) for part in value] if isinstance(value, list | tuple) else value
