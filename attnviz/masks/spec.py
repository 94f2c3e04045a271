"""A set of named masks over an attention, and its text form (no torch).

In: the text form that stands in an address, "padding,window=4,custom=+0.1:2.3", or as the mask of a
change, "padding+window:4". Out: a frozen `MaskSet`, or `BadInput`. `RULES` tells of each name what
it allows and, of a mask with a size, how that is written as code:

    padding   keys that only fill a sentence up
    causal    keys after the query
    window    keys `size` or more away from the query
    prefix    keys after the query, but never the first `size` keys
    block     keys outside the query's block of `size` positions
    custom    cells drawn by hand, stroke by stroke
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from attnviz import notation
from attnviz.errors import BadInput
from attnviz.notation import TextForm, refusal

MaskName = Literal["padding", "causal", "window", "prefix", "block", "custom"]
MASK_NAMES: tuple[MaskName, ...] = get_args(MaskName)
MAX_STROKES = 64
STROKE = re.compile(r"([+-])(\d{1,5})\.(\d{1,5}):(\d{1,5})\.(\d{1,5})", re.ASCII)


@dataclass(frozen=True)
class MaskRule:
    """The rule of a mask: the keys that a query may attend to.

    `allows(query, key, size)` takes positions as arrays or tensors that broadcast; it is missing
    where positions are not enough: of padding, and of cells drawn by hand. `sized_code` is the same
    in Python for a mask that has a size; `masks/code.py` writes the others.
    """

    name: MaskName
    allows: Callable[[Any, Any, int], Any] | None = None
    sized_code: str = ""


RULES: Mapping[MaskName, MaskRule] = {
    rule.name: rule
    for rule in (
        MaskRule("padding"),
        MaskRule("causal", lambda query, key, _size: key <= query),
        MaskRule(
            "window",
            lambda query, key, size: abs(query - key) < size,
            "(query - key).abs() < {size}",
        ),
        MaskRule(
            "prefix",
            lambda query, key, size: (key <= query) | (key < size),
            "(key <= query) | (key < {size})",
        ),
        MaskRule(
            "block",
            lambda query, key, size: query // size == key // size,
            "query // {size} == key // {size}",
        ),
        MaskRule("custom"),
    )
}
SIZED: tuple[MaskName, ...] = tuple(name for name, rule in RULES.items() if rule.sized_code)


def _refusal(part: str, reason: str) -> BadInput:
    return refusal("bad_masks", "the mask", part, reason, "padding,window=4")


FORM = TextForm(_refusal, separator=",", max_chars=2000, max_entries=len(MASK_NAMES), none="none")


@dataclass(frozen=True)
class Stroke:
    """A rectangle of cells, both corners included, that is blocked or opened again."""

    blocks: bool
    top: int
    left: int
    bottom: int
    right: int

    def __str__(self) -> str:
        sign = "+" if self.blocks else "-"
        return f"{sign}{self.top}.{self.left}:{self.bottom}.{self.right}"


@dataclass(frozen=True)
class MaskSet:
    """The masks that are on, in the order of `MASK_NAMES`; a size for each that has one."""

    on: tuple[MaskName, ...] = ()
    sizes: Mapping[MaskName, int] = field(default_factory=dict)
    strokes: tuple[Stroke, ...] = ()

    def entries(self) -> tuple[str, ...]:
        """The text of each mask."""
        return tuple(map(self._entry, self.on))

    def __str__(self) -> str:
        return FORM.write(self.entries())

    @property
    def joined(self) -> str:
        """The text form inside a change, "padding+window:4"."""
        return "+".join(entry.replace("=", ":") for entry in self.entries()) or FORM.none

    def _entry(self, name: MaskName) -> str:
        if name in SIZED:
            return f"{name}={self.sizes[name]}"
        return f"{name}={''.join(map(str, self.strokes))}" if name == "custom" else name


def parse(text: str) -> MaskSet:
    """The masks of a text form; `BadInput` for nonsense.

    >>> str(parse("window=4,padding"))
    'padding,window=4'
    """
    values = FORM.parse(text, _parse_entry)
    on = tuple(name for name in MASK_NAMES if name in values)
    sizes = {name: _size(name, values[name]) for name in on if name in SIZED}
    return MaskSet(on, sizes, _strokes(values.get("custom", "")))


def parse_joined(text: str) -> MaskSet:
    """The masks of the text form inside a change; `BadInput` for nonsense.

    >>> str(parse_joined("causal+window:4"))
    'causal,window=4'
    """
    parts = re.split(r"\+(?=[a-z])", text)
    return parse(FORM.separator.join(part.replace(":", "=", 1) for part in parts))


def write(masks: MaskSet) -> str:
    """The text form of `parse`."""
    return str(masks)


def _parse_entry(part: str) -> tuple[MaskName, str]:
    text, _, value = part.partition("=")
    name = next((name for name in MASK_NAMES if name == text), None)
    if name is None:
        raise _refusal(part, f"no mask of {', '.join(MASK_NAMES)}")
    if value and name not in (*SIZED, "custom"):
        raise _refusal(part, f"{name} has no size")
    return name, value


def _size(name: MaskName, value: str) -> int:
    size = notation.index(value)
    if not size or str(size) != value:  # one way to write each size
        raise _refusal(f"{name}={value}", "its size must be a whole number from 1 to 99999")
    return size


def _strokes(text: str) -> tuple[Stroke, ...]:
    strokes = tuple(
        Stroke(sign == "+", *map(int, corners)) for sign, *corners in STROKE.findall(text)
    )
    if "".join(map(str, strokes)) != text or len(strokes) > MAX_STROKES:
        raise _refusal(text, f"strokes are +0.1:2.3 or -0.1:2.3, at most {MAX_STROKES}")
    return strokes
