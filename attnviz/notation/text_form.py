"""One text form: entries with a separator between them, within limits, or a refusal.

In: text of any origin, and a function that parses one entry, made of the small parsers here:
indices, numbers, escaped words. Out: the entries by their keys, or `BadInput` that names the part
and the reason. Of two entries with one key the later counts. An index is a whole number of at most
five ASCII digits, so that no text can ask for more than memory holds.
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from attnviz.errors import BadInput

MAX_INDEX_DIGITS = 5
Key = TypeVar("Key")
Value = TypeVar("Value")
Refuse = Callable[[str, str], BadInput]  # (part, reason) → the error
SHOWN_CHARS = 40  # characters of a refused text that an error shows


def refusal(code: str, what: str, part: str, reason: str, example: str) -> BadInput:
    """The error for a text, or a part of one, that is not of its form."""
    shown = shortened(part)
    return BadInput(
        f"{what} {shown!r} cannot be used: {reason}; write it as {example}",
        code=code,
        asked=shown,
    )


def shortened(text: str) -> str:
    """The beginning of a text, as long as an error may show it."""
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "…"


@dataclass(frozen=True)
class TextForm:
    """The grammar of a text form. `none` is the text for no entries.

    With `allows_gaps`, empty entries are skipped, as in ",q.0.0=1,".
    """

    refuse: Refuse
    separator: str
    max_chars: int
    max_entries: int
    none: str = ""
    allows_gaps: bool = False

    def parse(self, text: str, parse_entry: Callable[[str], tuple[Key, Value]]) -> dict[Key, Value]:
        """The entries of a text by their keys, in the order of their last mention.

        Raises the error of `refuse` for a text over a limit; `parse_entry` raises its own.
        """
        if len(text) > self.max_chars:
            raise self.refuse(text, f"longer than {self.max_chars} characters")
        entries: dict[Key, Value] = {}
        for part in [] if text == self.none else text.split(self.separator):
            if part or not self.allows_gaps:
                key, value = parse_entry(part)
                entries.pop(key, None)
                entries[key] = value
        if len(entries) > self.max_entries:
            raise self.refuse(text, f"more than {self.max_entries} entries")
        return entries

    def write(self, entries: Iterable[str]) -> str:
        """The text of written entries."""
        return self.separator.join(entries) or self.none


def index(text: str) -> int | None:
    """A whole number from 0 to 99,999; None for anything else."""
    is_index = text.isascii() and text.isdigit() and len(text) <= MAX_INDEX_DIGITS
    return int(text) if is_index else None


def indices(text: str, n: int, separator: str = ".") -> tuple[int, ...] | None:
    """Exactly `n` indices with a separator between them; None for anything else.

    >>> indices("3.5", 2), indices("3", 2), indices("3.x", 2)
    ((3, 5), None, None)
    """
    values = [index(part) for part in text.split(separator)]
    valid = tuple(value for value in values if value is not None)
    return valid if len(valid) == len(values) == n else None


def write_indices(*values: int, separator: str = ".") -> str:
    """The text of `indices`."""
    return separator.join(map(str, values))


def number(text: str) -> float | None:
    """A number, perhaps infinite; None for anything else, NaN too."""
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def write_number(value: float) -> str:
    """A number in nine digits, as many as a float32 needs to come back unchanged."""
    return f"{value:.9g}"


def escape(word: str, reserved: str) -> str:
    """The word with each reserved character as %XX; a % stays unless it would be read as one.

    >>> escape("a~b 50%", "~ ")
    'a%7Eb%2050%'
    """
    codes = [_code(character) for character in ("%", *reserved)]
    ambiguous = re.compile("%(?=" + "|".join(code[1:] for code in codes) + ")")
    escaped = ambiguous.sub(_code("%"), word)
    for character in reserved:
        escaped = escaped.replace(character, _code(character))
    return escaped


def unescape(text: str, reserved: str) -> str:
    """The inverse of `escape`; other uses of % stay as they are."""
    characters = {_code(character): character for character in ("%", *reserved)}
    return re.sub("|".join(characters), lambda match: characters[match[0]], text)


def _code(character: str) -> str:
    return f"%{ord(character):02X}"
