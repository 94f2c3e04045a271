"""The strongest cells of a head, away from where attention is strong anyway.

In: a `Pyramid`. Out: exact cells, strongest first. Nearly every head looks at the token itself, at
its neighbours, or rests on the first token; what is left out of the search is a band around the
diagonal and the first column. The maxima of the pyramid tell where it is worth looking: tiles are
read in the order of what they could hold at most, until no other can hold more than what was found.
"""

import heapq
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32

from attnviz.errors import BadInput, require_type
from attnviz.tiles.pooling import bound
from attnviz.tiles.pyramid import KEPT, TILE, Pyramid, ignore, require_wanted

MOST_CELLS = 1000
DIAGONAL = 1


@dataclass(frozen=True, order=True)
class Cell:
    """One weight and where it stands."""

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
) -> tuple[Cell, ...]:
    """The `count` largest weights above zero, strongest first.

    Left out are keys within `diagonal` positions of their query (None: nothing is, as makes sense
    where queries and keys are different tokens) and the first `first_keys` keys.
    """
    require_type("tiles.strongest", "pyramid", pyramid, Pyramid, "give tiles.build(call, head)")
    if not 0 < count <= MOST_CELLS:
        raise BadInput(
            f"asked for the {count} strongest cells; ask for 1 to {MOST_CELLS}",
            code="bad_count",
            asked=count,
            most=MOST_CELLS,
        )
    found: list[Cell] = []
    tiles = _promising(pyramid)
    for done, (most, row, column) in enumerate(tiles):
        require_wanted(cancel)
        least = found[0].weight if len(found) == count else 0.0
        if most <= least:
            break
        for cell in _cells(pyramid, row, column, count, diagonal, first_keys):
            if len(found) < count:
                heapq.heappush(found, cell)
            elif cell > found[0]:
                heapq.heapreplace(found, cell)
        progress((done + 1) / len(tiles))
    progress(1.0)
    return tuple(sorted(found, key=lambda cell: (-cell.weight, cell.query, cell.key)))


def _promising(pyramid: Pyramid) -> list[tuple[float, int, int]]:
    """(the most that a tile of the lowest level can hold, its row, its column), best first."""
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
) -> list[Cell]:
    """The strongest cells of one tile that count."""
    rows = slice(row * TILE, min((row + 1) * TILE, pyramid.n_query))
    keys = slice(column * TILE, min((column + 1) * TILE, pyramid.n_key))
    weights = _without(pyramid.weights(rows, keys), rows.start, keys.start, diagonal, first_keys)
    flat = weights.ravel()
    best = np.argpartition(flat, -count)[-count:] if count < flat.size else np.arange(flat.size)
    return [
        Cell(
            float(flat[at]),
            rows.start + int(at) // weights.shape[1],
            keys.start + int(at) % weights.shape[1],
        )
        for at in best
        if flat[at] > 0
    ]


def _without(
    weights: Float32[np.ndarray, "row column"],
    first_row: int,
    first_key: int,
    diagonal: int | None,
    first_keys: int,
) -> Float32[np.ndarray, "row column"]:
    """The weights with nothing in the places that are left out."""
    rows, columns = weights.shape
    queries, keys = first_row + np.arange(rows), first_key + np.arange(columns)
    out = np.broadcast_to(keys[None, :] < first_keys, weights.shape)
    if diagonal is not None:
        out = out | (np.abs(keys[None, :] - queries[:, None]) <= diagonal)
    return np.where(out, np.float32(0), weights)
