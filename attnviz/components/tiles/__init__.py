"""Tiles: one head of a long text, zoomed from the whole down to single cells.

In: a `TilesData` with the tiles that the browser asked for, its texts translated. Out of
`show_tiles`: a committed `Selection`; and, through `parse_want`, what the browser lacks: tiles, the
strongest cells at a distance, one exact weight. The names of the tokens travel once: a browser that
has them says so. Level 0 travels as float32, the others as one byte a point, on the logarithmic
scale of `attnviz.tiles`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float32, UInt8

from attnviz.components.buffer import Packable, pack
from attnviz.components.heads import PICKER_KEYS, Heard, TokenAxis, axes_header, heard_header
from attnviz.components.selection import Extent

NAME = "attnviz.tiles"
SIDE = 256  # of a tile, in points
MAX_TILES = 24  # in one answer: more than a screen shows of one level
# how far apart query and key of the strongest cells are at least
DISTANCES = (2, 16, 128, 1024)
DISTANCE = 16
MAX_INDEX = 99_999
MAX_STAMP = 80
STRING_KEYS: tuple[str, ...] = (
    "shared.query_axis",
    "shared.key_axis",
    "shared.scale",
    "shared.scale_linear",
    "shared.scale_sqrt",
    "shared.scale_log",
    "shared.colour_bar",
    *PICKER_KEYS,
    "tiles.canvas",
    "tiles.exact",
    "tiles.pooled",
    "tiles.overview",
    "tiles.zoom_in",
    "tiles.zoom_out",
    "tiles.zoom_whole",
    "tiles.point",
    "tiles.area",
    "tiles.idle",
    "tiles.pinned",
    "tiles.hint",
    "tiles.find",
    "tiles.find_hint",
    "tiles.found_none",
    "tiles.found_some",
    "tiles.found_at",
    "tiles.previous_place",
    "tiles.next_place",
    "tiles.strongest",
    "tiles.strongest_none",
    "tiles.distance",
    "tiles.distance_of",
    "tiles.cell",
    "tiles.waiting",
    "shared.heard",
    "shared.heard_note",
    "shared.heard_rest",
)

TileName = tuple[int, int, int]


@dataclass(frozen=True)
class Want:
    """The tiles (level, row, column) that the browser lacks, of the head that it knows as `stamp`.

    `number` counts its requests. `axes` names the tokens that it has. `distance` is how far apart
    the strongest cells are to be, `cell` a place whose exact weight it shows.
    """

    number: int = 0
    stamp: str = ""
    axes: str = ""
    tiles: tuple[TileName, ...] = ()
    distance: int = DISTANCE
    cell: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class TilesData:
    """One head, as far as it was asked for. `stamp` and `axes_stamp` change with head and text.

    `axes` are the tokens along queries and keys, None where the browser has them; where keys are
    frames of a sound, `heard` is sent together with them. `ready` is False while the head is being
    built: then there are no tiles and no `cells`.
    """

    stamp: str
    axes_stamp: str
    axes: tuple[TokenAxis, TokenAxis] | None
    cross: bool
    layer: int
    head: int
    extent: Extent
    top: int
    ready: bool
    want: Want
    strings: Mapping[str, str]
    codes: Mapping[TileName, UInt8[np.ndarray, "256 256"]] = field(default_factory=dict)
    exact: Mapping[TileName, Float32[np.ndarray, "256 256"]] = field(default_factory=dict)
    cells: tuple[tuple[int, int, float], ...] = ()
    weight: float | None = None
    heard: Heard | None = None


def pack_tiles(data: TilesData) -> bytes:
    """The buffer of an answer. Tiles of nothing but zeros are named, not sent."""
    names = (*data.codes, *data.exact)
    tiles = {**data.codes, **data.exact}
    sent = [name for name in names if tiles[name].any()]
    extent = data.extent
    header = {
        "strings": dict(data.strings),
        "stamp": data.stamp,
        "axes_stamp": data.axes_stamp,
        "axes": None if data.axes is None else axes_header(*data.axes, data.cross),
        "heard": heard_header(data.heard),
        "cross": int(data.cross),
        "layer": data.layer,
        "head": data.head,
        "n_layers": extent.n_layers,
        "n_heads": extent.n_heads,
        "n_query": extent.n_query,
        "n_key": extent.n_key,
        "top": data.top,
        "ready": int(data.ready),
        "number": data.want.number,
        "empty": [list(name) for name in names if name not in sent],
        "distances": [distance for distance in DISTANCES if distance < extent.n_key],
        "distance": data.want.distance,
        "cells": [list(cell) for cell in data.cells],
        "pinned": data.want.cell and [*data.want.cell, data.weight],
    }
    arrays: dict[str, Packable] = {"/".join(map(str, name)): tiles[name] for name in sent}
    if data.heard is not None:
        arrays["spectrum"] = data.heard.levels
    return pack(header, arrays)


def parse_want(value: object, extent: Extent) -> Want:
    """The tiles that the browser lacks, checked; malformed or nonexistent ones are left out."""
    if not isinstance(value, Mapping):
        return Want()
    number, distance = value.get("number"), value.get("distance")
    tiles = value.get("tiles")
    named = [_tile(tile) for tile in tiles[:MAX_TILES]] if isinstance(tiles, list) else []
    return Want(
        number=number if isinstance(number, int) and _is_count(number) else 0,
        stamp=_text(value.get("stamp")),
        axes=_text(value.get("axes")),
        tiles=tuple(dict.fromkeys(name for name in named if name is not None)),
        distance=distance if distance in DISTANCES else DISTANCE,
        cell=_cell(value.get("cell"), extent),
    )


def _tile(value: object) -> TileName | None:
    if not (isinstance(value, list) and len(value) == 3 and all(map(_is_count, value))):
        return None
    level, row, column = value
    return level, row, column


def _cell(value: object, extent: Extent) -> tuple[int, int] | None:
    if not (isinstance(value, list) and len(value) == 2 and all(map(_is_count, value))):
        return None
    query, key = value
    return (query, key) if query < extent.n_query and key < extent.n_key else None


def _text(value: object) -> str:
    return value[:MAX_STAMP] if isinstance(value, str) else ""


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_INDEX
