"""The largest weights of a head, away from the diagonal and the first token.

In: a `Pyramid`. Out: exact cells, largest first. Nearly every head attends to the token itself, to
its neighbours or to the first token, so a band around the diagonal and the first column are left
out. The maxima of the pyramid bound the weights of each tile: tiles are computed in the order of
their bounds, until no other tile can contain a larger weight than those found.
"""

import heapq
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32

from attnviz.errors import BadInput, require_type, require_wanted
from attnviz.tiles.pyramid import KEPT, TILE, Pyramid, bound
from attnviz.types import ignore

MAX_CELLS = 1000
DIAGONAL = 1


@dataclass(frozen=True, order=True)
class StrongCell:
    """One weight with its query and key."""

    weight: float
    query: int
    key: int


def strongest(
    pyramid: Pyramid,
    count: int,
    *,
    diagonal: int | None = DIAGONAL,
    first_keys: int = 1,
    progress: Callable[[float], None] = ignore,
    cancel: threading.Event | None = None,
) -> tuple[StrongCell, ...]:
    """The `count` largest weights above zero, largest first.

    Keys within `diagonal` positions of their query are left out (None keeps them, as makes sense
    if queries and keys are different tokens), and so are the first `first_keys` keys. `progress` is
    called with the finished fraction; raises `Cancelled` soon after `cancel` was set.
    """
    require_type("tiles.strongest", "pyramid", pyramid, Pyramid, "give tiles.build(call, head)")
    if not 0 < count <= MAX_CELLS:
        raise BadInput(
            f"asked for the {count} strongest cells; ask for 1 to {MAX_CELLS}",
            code="bad_count",
            asked=count,
            most=MAX_CELLS,
        )
    cells: list[StrongCell] = []
    tiles = _promising(pyramid)
    for done, (most, row, column) in enumerate(tiles):
        require_wanted(cancel)
        least = cells[0].weight if len(cells) == count else 0.0
        if most <= least:
            break
        for cell in _cells(pyramid, row, column, count, diagonal, first_keys):
            if len(cells) < count:
                heapq.heappush(cells, cell)
            elif cell > cells[0]:
                heapq.heapreplace(cells, cell)
        progress((done + 1) / len(tiles))
    progress(1.0)
    return tuple(sorted(cells, key=lambda cell: (-cell.weight, cell.query, cell.key)))


def _promising(pyramid: Pyramid) -> list[tuple[float, int, int]]:
    """(upper bound of a tile's weights, its row, its column), the largest bound first."""
    codes, side = pyramid.kept[KEPT], TILE >> KEPT
    down, across = pyramid.tiles(0)
    whole = np.zeros((down * side, across * side), dtype=np.uint8)
    whole[: codes.shape[0], : codes.shape[1]] = codes
    most = whole.reshape(down, side, across, side).max(axis=(1, 3))
    tiles = [
        (bound(int(most[row, column])), row, column)
        for row in range(down)
        for column in range(across)
        if most[row, column]
    ]
    return sorted(tiles, reverse=True)


def _cells(
    pyramid: Pyramid, row: int, column: int, count: int, diagonal: int | None, first_keys: int
) -> list[StrongCell]:
    """The largest weights of one tile, those that are left out aside."""
    rows = slice(row * TILE, min((row + 1) * TILE, pyramid.n_query))
    keys = slice(column * TILE, min((column + 1) * TILE, pyramid.n_key))
    weights = _without(pyramid.weights(rows, keys), rows.start, keys.start, diagonal, first_keys)
    flat = weights.ravel()
    best = np.argpartition(flat, -count)[-count:] if count < flat.size else np.arange(flat.size)
    return [
        StrongCell(
            float(flat[place]),
            rows.start + int(place) // weights.shape[1],
            keys.start + int(place) % weights.shape[1],
        )
        for place in best
        if flat[place] > 0
    ]


def _without(
    weights: Float32[np.ndarray, "row column"],
    first_row: int,
    first_key: int,
    diagonal: int | None,
    first_keys: int,
) -> Float32[np.ndarray, "row column"]:
    """The weights, 0 in the cells that are left out."""
    rows, columns = weights.shape
    queries, keys = first_row + np.arange(rows), first_key + np.arange(columns)
    out = np.broadcast_to(keys[None, :] < first_keys, weights.shape)
    if diagonal is not None:
        out = out | (np.abs(keys[None, :] - queries[:, None]) <= diagonal)
    return np.where(out, np.float32(0), weights)
