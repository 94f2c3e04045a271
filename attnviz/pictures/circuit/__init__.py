"""Circuit: the paths between heads, as arrows from what an earlier head writes to what it moves.

In: a frozen `CircuitView` whose texts are already translated. Out: the head or the path that a
visitor has chosen, the least that an arrow moves and the sides that are drawn, as an address has
them; a request to open a head. Every path travels once; the browser draws the strongest ones.
"""

import re
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float32

from attnviz.pictures.shared.canvas import Canvas
from attnviz.types import Site

Side = Literal["q", "k", "v"]
SIDES: tuple[Side, ...] = get_args(Side)
DEFAULT_SIDES = "qk"
LEAST = re.compile(r"(0|0\.\d{1,4}|1)", re.ASCII)  # a share


@dataclass(frozen=True)
class Chosen:
    """A head, or a path from one to a later one's q, k or v; it prints as in an address."""

    sender: str
    receiver: str = ""
    side: Side = "k"

    def __str__(self) -> str:
        return f"{self.sender}-{self.receiver}.{self.side}" if self.receiver else self.sender


@dataclass(frozen=True)
class CircuitHead:
    """A head: its name, and where the pages have it."""

    name: str
    layer: int
    head: int


@dataclass(frozen=True)
class CircuitColumn:
    """The heads that run together; `group` is their attention, "" for the only one."""

    title: str
    group: str
    heads: tuple[CircuitHead, ...]


@dataclass(frozen=True)
class CutCell:
    """A cell that a cut path changes: its tokens and texts for the columns of the table."""

    query: int
    key: int
    label: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class PathDetail:
    """The chosen path: sentences with its control and intervention, and its cells as a table."""

    title: str
    sentences: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[CutCell, ...]


@dataclass(frozen=True, eq=False)
class CircuitView:
    """The graph; NaN where a head does not run after another.

    `by_chance` is what a change as large moves in random directions, `chance_reach` what a path has
    to move to be told from that; both NaN for values. `chosen` is a
    head or path as an address has it, "" for none. `least` is the least that a drawn arrow moves,
    None for the choice of the browser. `summary` names the strongest paths with their control,
    `notes` say what the numbers mean. `composed` is the z of what each head's weights let it read
    of an earlier one, without any text; None where the weights do not say.
    """

    columns: tuple[CircuitColumn, ...]
    moved: Float32[np.ndarray, "sender receiver side"]
    by_chance: Float32[np.ndarray, "sender receiver side"]
    chance_reach: Float32[np.ndarray, "sender receiver side"]
    composed: Float32[np.ndarray, "sender receiver side"] | None
    summary: str
    notes: tuple[str, ...] = ()
    chosen: str = ""
    least: float | None = None
    sides: str = DEFAULT_SIDES
    detail: PathDetail | None = None
    over: bool = False


CANVAS = Canvas("circuit", (CircuitView,))


def parse_chosen(text: object) -> Chosen | None:
    """The head or path of a text; None for anything else."""
    sender, dash, path = text.partition("-") if isinstance(text, str) else ("", "", "")
    receiver, _, letter = path.rpartition(".")
    side: Side = next((side for side in SIDES if side == letter), "k")
    sites = map(Site.parse, (sender, receiver) if dash else (sender,))
    if side != letter and dash or any(site is None or site.head is None for site in sites):
        return None
    return Chosen(sender, receiver, side)


def checked(name: str, raw: object) -> tuple[str | None, bool]:
    """A parameter "arrow", "least" or "sides": (what to use, or None; True if exactly as given)."""
    if raw == "" and name != "sides":
        return "", True
    if name == "arrow":
        chosen = parse_chosen(raw)
        value = None if chosen is None else str(chosen)
    elif name == "least":
        value = raw if isinstance(raw, str) and LEAST.fullmatch(raw) else None
    else:
        value = parse_sides(raw)
    return value, value is not None and value == raw


def parse_sides(text: object) -> str | None:
    """The sides of a text such as "qk", each once and in their order; None for anything else."""
    if not isinstance(text, str) or not text or set(text) - set(SIDES):
        return None
    return "".join(side for side in SIDES if side in text)
