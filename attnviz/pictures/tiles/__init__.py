"""Tiles: one head of a long text, zoomed from the whole down to single cells.

In: a `TilesData` with the tiles that the browser asked for. Out: a committed `Selection`; and,
through `parse_want`, what the browser lacks: tiles, the strongest cells at a distance, one exact
weight. The names of the tokens travel once: a browser that has them says so. Level 0 travels as
float32, the others as one byte a point, on the logarithmic scale of `attnviz.tiles`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from jaxtyping import Float32, UInt8

from attnviz.pictures.shared.buffer import Packable
from attnviz.pictures.shared.canvas import INLINE, LOCAL, Canvas, derived
from attnviz.pictures.shared.heads import Axes, Heard
from attnviz.pictures.shared.selection import Extent

SIDE = 256  # of a tile, in points
MAX_TILES = 24  # in one answer: more than a screen shows of one level
# how far apart query and key of the strongest cells are at least
DISTANCES = (2, 16, 128, 1024)
DISTANCE = 16
MAX_INDEX = 99_999
MAX_STAMP = 80

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
    axes: Axes | None
    cross: bool
    layer: int
    head: int
    extent: Annotated[Extent, INLINE]
    top: int
    ready: bool
    want: Annotated[Want, LOCAL]
    codes: Annotated[Mapping[TileName, UInt8[np.ndarray, "256 256"]], LOCAL] = field(
        default_factory=dict
    )
    exact: Annotated[Mapping[TileName, Float32[np.ndarray, "256 256"]], LOCAL] = field(
        default_factory=dict
    )
    cells: tuple[tuple[int, int, float], ...] = ()
    weight: Annotated[float | None, LOCAL] = None
    heard: Heard | None = None

    @derived
    def number(self) -> int:
        """The request that this answers."""
        return self.want.number

    @derived
    def distance(self) -> int:
        """The least distance of query and key of the strongest cells."""
        return self.want.distance

    @derived
    def distances(self) -> tuple[int, ...]:
        """The distances that this text has."""
        return tuple(distance for distance in DISTANCES if distance < self.extent.n_key)

    @derived
    def pinned(self) -> tuple[int, int, float | None] | None:
        """The cell that was asked for, and its weight where that is known."""
        return None if self.want.cell is None else (*self.want.cell, self.weight)

    @derived
    def empty(self) -> tuple[TileName, ...]:
        """Tiles of nothing but zeros, which are not sent."""
        tiles = {**self.codes, **self.exact}
        return tuple(name for name in tiles if not tiles[name].any())

    @derived
    def tiles(self) -> Mapping[str, Packable]:
        """The other tiles, "level/row/column": codes, and the weights themselves on level 0."""
        tiles = {**self.codes, **self.exact}
        return {"/".join(map(str, name)): tile for name, tile in tiles.items() if tile.any()}


CANVAS = Canvas("tiles", (TilesData,))


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
