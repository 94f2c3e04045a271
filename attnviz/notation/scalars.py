"""Indices, numbers and escaped words inside text forms.

In: a part of a text form. Out: its value, or None if it is none: the caller knows what to say. An
index is a whole number of at most five ASCII digits, so that no text can ask for more than memory
holds.
"""

import math
import re

MAX_INDEX_DIGITS = 5


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
