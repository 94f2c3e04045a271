"""Geometry: queries and keys as arrows in a plane, to drag, to turn and as a real head has them.

In: a frozen `GeometryView` whose texts are already translated. Out: the arrows
that a visitor dragged, the tab and the positions as the event "geometry", which `checked`
validates, and another head or query as a selection. Dragging costs no message to the server.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

import numpy as np
from jaxtyping import Bool, Float32

from attnviz import notation
from attnviz.pictures.shared.canvas import INLINE, Canvas, derived

Tab = Literal["arrows", "rotary", "clocks", "head"]
TABS: tuple[Tab, ...] = get_args(Tab)
MAX_KEYS, MAX_TURN, REACH = 6, 512, 3.0
DEFAULT_VECTORS = "1.6,0.6/1.6,1.4,-0.6,2.2/-0.8,1.9,-2.2,-0.4/1.2,-1.8,1.8,-1"
DEFAULT_TURNS = "5.2.0"
NUMBER = re.compile(r"-?\d(\.\d{1,2})?", re.ASCII)


@dataclass(frozen=True)
class Frequencies:
    """The angle by which each pair of components turns from one position to the next, in radians.

    `own` is True if they were measured in the model, False for the usual 10000^(−2i/d).
    """

    angles: tuple[float, ...]
    own: bool


@dataclass(frozen=True, eq=False)
class HeadPlane:
    """A real head's words in its best plane.

    `query_at` has the positions of the queries in the text. `weights` are the model's own among
    these words, each row divided by its sum; `may` says which keys a query may attend to. `share`
    is what the plane keeps of the scores' variation, `median` the same of the median head; None
    where scores are all alike.
    """

    layer: int
    head: int
    n_layers: int
    n_heads: int
    query: int
    tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    query_at: tuple[int, ...]
    queries: Float32[np.ndarray, "query axis"]
    keys: Float32[np.ndarray, "key axis"]
    weights: Float32[np.ndarray, "query key"]
    may: Bool[np.ndarray, "query key"]
    share: float | None
    median: float | None
    n_measured: int
    turned: bool
    cut: bool
    kept: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class GeometryChoice:
    """The tab, the arrows and the positions, as an address has them.

    `vectors` is "x,y/kx,ky,vx,vy/…", the query and then each key with its value; `turns` is the
    positions of query and key and the pair that turns, "m.n.i".
    """

    tab: Tab = "arrows"
    vectors: str = DEFAULT_VECTORS
    turns: str = DEFAULT_TURNS


@dataclass(frozen=True, eq=False)
class GeometryView:
    """The content of the page; `plane` is None where no head can be shown, `reason` says why."""

    choice: Annotated[GeometryChoice, INLINE]
    frequencies: Frequencies
    plane: HeadPlane | None
    reason: str = ""

    @derived
    def start(self) -> str:
        """The arrows to begin with."""
        return DEFAULT_VECTORS

    @derived
    def reach(self) -> float:
        """The largest coordinate of an arrow."""
        return REACH

    @derived
    def max_keys(self) -> int:
        """The most keys that can be drawn."""
        return MAX_KEYS

    @derived
    def max_turn(self) -> int:
        """The last position that can be chosen."""
        return MAX_TURN


CANVAS = Canvas("geometry", (GeometryView,))


def checked(name: str, raw: object) -> tuple[str | None, bool]:
    """A parameter "tab", "vectors" or "turns": (what to use, or None; True if exactly as given)."""
    if not isinstance(raw, str) or len(raw) > 400:
        return None, False
    value: str | None
    if name == "tab":
        value = raw if raw in TABS else None
    elif name == "vectors":
        value = _vectors(raw)
    else:
        numbers = notation.indices(raw, 3)
        fits = numbers is not None and max(numbers) <= MAX_TURN
        value = notation.write_indices(*numbers) if numbers is not None and fits else None
    return value, value is not None and value == raw


def _vectors(text: str) -> str | None:
    """A query and 1 to 6 keys with their values: "x,y/kx,ky,vx,vy/…", each within ±REACH."""
    query, *keys = (part.split(",") for part in text.split("/"))
    numbers = [number for part in (query, *keys) for number in part]
    if len(query) != 2 or any(len(key) != 4 for key in keys) or not 1 <= len(keys) <= MAX_KEYS:
        return None
    if not all(NUMBER.fullmatch(number) and abs(float(number)) <= REACH for number in numbers):
        return None
    return text
