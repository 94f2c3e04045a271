"""Which masks are laid over an attention, by name: a set of them, and its text form (no torch).

In: the text form that stands in an address, "padding,window=4,custom=+0.1:2.3". Out: a frozen
`MaskSet`, or `BadInput`. What each name blocks is in `masks.kinds`:

    padding   keys that only fill a sentence up
    causal    keys after the query
    window    keys `size` or more away from the query
    prefix    keys after the query, but never the first `size` keys
    block     keys outside the query's block of `size` positions
    custom    cells drawn by hand, stroke by stroke
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from attnviz.errors import BadInput

MaskName = Literal["padding", "causal", "window", "prefix", "block", "custom"]
MASK_NAMES: tuple[MaskName, ...] = get_args(MaskName)
SIZED: tuple[MaskName, ...] = ("window", "prefix", "block")
NOTHING = "none"
MOST_STROKES = 64
MAX_TEXT_CHARS = 2000
STROKE = re.compile(r"([+-])(\d{1,5})\.(\d{1,5}):(\d{1,5})\.(\d{1,5})")
SIZE = re.compile(r"[1-9]\d{0,4}")


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

    def __str__(self) -> str:
        return ",".join(self._written(name) for name in self.on) or NOTHING

    def _written(self, name: MaskName) -> str:
        if name in SIZED:
            return f"{name}={self.sizes[name]}"
        return f"{name}={''.join(map(str, self.strokes))}" if name == "custom" else name


def parse(text: str) -> MaskSet:
    """The masks of a text form; `BadInput` for nonsense.

    >>> str(parse("window=4,padding"))
    'padding,window=4'
    """
    if len(text) > MAX_TEXT_CHARS:
        raise _bad(text[:40] + "…", f"longer than {MAX_TEXT_CHARS} characters")
    entries = dict(_entry(part) for part in text.split(",")) if text != NOTHING else {}
    sizes = {name: int(value) for name, value in entries.items() if name in SIZED}
    on = tuple(name for name in MASK_NAMES if name in entries)
    return MaskSet(on, sizes, _strokes(entries.get("custom", "")))


def write(masks: MaskSet) -> str:
    """The text form of `parse`."""
    return str(masks)


def _entry(part: str) -> tuple[MaskName, str]:
    asked, _, value = part.partition("=")
    name = next((known for known in MASK_NAMES if known == asked), None)
    if name is None:
        raise _bad(part, f"no mask of {', '.join(MASK_NAMES)}")
    if name in SIZED and not SIZE.fullmatch(value):
        raise _bad(part, "its size must be a whole number from 1 to 99999")
    if name not in (*SIZED, "custom") and value:
        raise _bad(part, f"{name} has no size")
    return name, value


def _strokes(text: str) -> tuple[Stroke, ...]:
    found = STROKE.findall(text)
    strokes = tuple(Stroke(sign == "+", *map(int, corners)) for sign, *corners in found)
    if "".join(map(str, strokes)) != text or len(strokes) > MOST_STROKES:
        raise _bad(text[:40], f"strokes are +0.1:2.3 or -0.1:2.3, at most {MOST_STROKES}")
    return strokes


def _bad(part: str, reason: str) -> BadInput:
    return BadInput(
        f"the mask {part!r} cannot be applied: {reason}; write it as padding,window=4",
        code="bad_masks",
        asked=part,
    )
