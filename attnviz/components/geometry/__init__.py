"""Geometry: queries and keys as arrows in a plane, to drag, to turn and as a real head has them.

In: a frozen `GeometryView` whose texts are already translated. Out: a mounted component; the arrows
that a visitor dragged, the tab and the positions are sent as the event "geometry", which `checked`
validates, and another head or query as a selection. Dragging costs no message to the server.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float32

from attnviz import notation
from attnviz.components.buffer import Packable, pack
from attnviz.components.heads import PICKER_KEYS

NAME = "attnviz.geometry"
STRING_KEYS: tuple[str, ...] = (
    *PICKER_KEYS,
    *(
        f"geometry.{name}"
        for name in (
            "tabs",
            "tab_arrows",
            "tab_rotary",
            "tab_clocks",
            "tab_head",
            "arrows_note",
            "asking",
            "answering",
            "query",
            "key",
            "value",
            "moved",
            "add",
            "remove",
            "reset",
            "angle",
            "scaled",
            "weight",
            "keys",
            "mixed",
            "rotary_note",
            "rotary_own",
            "rotary_usual",
            "clocks_note",
            "position_q",
            "position_k",
            "together",
            "pair",
            "pair_of",
            "turned",
            "score_by_distance",
            "this_pair",
            "all_pairs",
            "clocks",
            "clock",
            "clocks_product",
            "head_note",
            "head_query",
            "share",
            "plane",
            "true",
            "distance",
            "rotated",
            "first_words",
        )
    ),
)
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
    is what the plane keeps of the scores' variation, `median` the same of the median head.
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
    share: float
    median: float
    n_measured: int
    turned: bool
    cut: bool


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

    choice: GeometryChoice
    frequencies: Frequencies
    plane: HeadPlane | None
    reason: str = ""


def pack_geometry(view: GeometryView, strings: Mapping[str, str]) -> bytes:
    """The buffer of a view."""
    header = {
        "strings": dict(strings),
        **asdict(view.choice),
        "start": DEFAULT_VECTORS,
        "reach": REACH,
        "max_keys": MAX_KEYS,
        "max_turn": MAX_TURN,
        "frequencies": asdict(view.frequencies),
        "reason": view.reason,
        "head": None,
    }
    if view.plane is None:
        return pack(header, {})
    header["head"], arrays = _head(view.plane)
    return pack(header, arrays)


def _head(plane: HeadPlane) -> tuple[dict[str, object], dict[str, Packable]]:
    header = {
        "layer": plane.layer,
        "head": plane.head,
        "n_layers": plane.n_layers,
        "n_heads": plane.n_heads,
        "query": plane.query,
        "tokens": list(plane.tokens),
        "key_tokens": list(plane.key_tokens),
        "query_at": list(plane.query_at),
        "share": None if np.isnan(plane.share) else plane.share,
        "median": None if np.isnan(plane.median) else plane.median,
        "n_measured": plane.n_measured,
        "turned": int(plane.turned),
        "cut": int(plane.cut),
    }
    arrays: dict[str, Packable] = {
        "queries": plane.queries,
        "keys": plane.keys,
        "weights": plane.weights,
        "may": plane.may.astype(np.uint8),
    }
    return header, arrays


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
