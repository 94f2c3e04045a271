"""One head of one call as a pyramid of tiles: exact weights at the bottom, maxima above.

In: an `AttentionCall` of any length. Out: a `Pyramid`. Building computes every cell once, in blocks
of rows, and keeps the softmax's two normalisers of each row and the maxima of 8×8 cells. Levels 0
(the weights), 1 and 2 are computed from q and k on demand; higher levels are kept. In level z one
code stands for 2^z×2^z cells, so that a single large weight is seen at every level; the top level
is one tile. Row and column count tiles.

Codes are bytes: 0 for a weight of 0, else 1 to 255 for weights from 2^−24 to 1 in equal steps of
their logarithm, 6.6 % from one code to the next. A linear scale would lose most of a long text:
uniform attention over 16,384 tokens gives 2^−14 each.
"""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Float32, UInt8
from torch import Tensor

from attnviz.attention import formula
from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import ALL_KEYS, AttentionInputs, blocks
from attnviz.attention.stored_weights import StoredWeights
from attnviz.errors import BadInput, require_index, require_type, require_wanted
from attnviz.summary import size
from attnviz.types import ignore

OCTAVES = 24
MAX_CODE = 255
STEPS_PER_E = MAX_CODE / (OCTAVES * math.log(2))
TILE = 256
# the lowest level that is kept: one byte for 8×8 cells, 4 MB for 16,384 tokens
KEPT = 3


@dataclass(frozen=True, eq=False)
class Pyramid:
    """The weights of one head, at every scale.

    `inputs` has q and k of the head; `peak` and `total` are the normalisers of each row of scores,
    `exp(score − peak) / total` is a weight; `kept` has the codes of each level from `KEPT` up.
    """

    inputs: AttentionInputs | StoredWeights
    peak: Float[Tensor, "query one"]
    total: Float[Tensor, "query one"]
    kept: dict[int, UInt8[np.ndarray, "_down _across"]]

    @property
    def n_query(self) -> int:
        """The number of queries."""
        return self.inputs.n_query

    @property
    def n_key(self) -> int:
        """The number of keys."""
        return self.inputs.n_key

    @property
    def top(self) -> int:
        """The lowest level at which one tile holds the whole matrix."""
        return top_level(self.n_query, self.n_key)

    @property
    def nbytes(self) -> int:
        """Bytes in memory, not counting a mask or bias, which the call keeps anyway."""
        own = [self.peak, self.total]
        if isinstance(self.inputs, AttentionInputs):
            own += [self.inputs.query, self.inputs.key]
        else:
            own.append(self.inputs.kept)
        return sum(tensor.nbytes for tensor in own) + sum(
            codes.nbytes for codes in self.kept.values()
        )

    def __repr__(self) -> str:
        return f"Pyramid of {self.n_query} queries × {self.n_key} keys, {size(self.nbytes)}"

    def tiles(self, level: int) -> tuple[int, int]:
        """The number of tiles of a level, down and across."""
        side = TILE << level
        return -(-self.n_query // side), -(-self.n_key // side)

    def tile(self, level: int, row: int, column: int) -> UInt8[np.ndarray, "256 256"]:
        """The codes of one tile; 0 beyond the edge of the matrix."""
        self.require_tile(level, row, column)
        out = np.zeros((TILE, TILE), dtype=np.uint8)
        if level >= KEPT:
            codes = self.kept[level][_side(row), _side(column)]
            out[: codes.shape[0], : codes.shape[1]] = codes
            return out
        for part in blocks(TILE, TILE >> level):
            # TILE rows of cells at every level: a block that stays in the processor's cache
            cells = slice(((row * TILE) + part.start) << level, ((row * TILE) + part.stop) << level)
            if cells.start < self.n_query:
                keys = slice((column * TILE) << level, ((column + 1) * TILE) << level)
                codes = encoded(pooled(self._log_weights(cells, keys), 1 << level)).cpu().numpy()
                out[part.start : part.start + codes.shape[0], : codes.shape[1]] = codes
        return out

    def weights(self, rows: slice, keys: slice) -> Float32[np.ndarray, "row column"]:
        """Exact weights of some queries and keys."""
        block: np.ndarray = self._shares(rows, keys).cpu().numpy()
        return block

    def exact(self, query: int, key: int) -> float:
        """One weight; raises `BadInput` for a query or key that does not exist."""
        require_index("query", query, self.n_query)
        require_index("key", key, self.n_key)
        return float(self._shares(slice(query, query + 1), slice(key, key + 1)))

    def row(self, query: int) -> Float32[np.ndarray, "key"]:
        """All weights of one query; raises `BadInput` for a query that does not exist."""
        require_index("query", query, self.n_query)
        weights: np.ndarray = self.weights(slice(query, query + 1), ALL_KEYS)[0]
        return weights

    def require_tile(self, level: int, row: int, column: int) -> None:
        """Raise `BadInput` unless this tile exists."""
        require_index("level", level, self.top + 1)
        down, across = self.tiles(level)
        if not (0 <= row < down and 0 <= column < across):
            raise BadInput(
                f"tile {row}, {column} does not exist: level {level} has {down} × {across} tiles",
                code="bad_tile",
                level=level,
                row=row,
                column=column,
            )

    def _shares(self, rows: slice, keys: slice) -> Float[Tensor, "row column"]:
        masked = self.inputs.masked(0, 0, rows, keys)
        return formula.shares(masked, self.peak[rows], self.total[rows])

    def _log_weights(self, rows: slice, keys: slice) -> Float[Tensor, "row column"]:
        return self.inputs.masked(0, 0, rows, keys).sub_(
            _log_total(self.peak[rows], self.total[rows])
        )


def build(
    call: AttentionCall,
    head: int,
    batch: int = 0,
    *,
    progress: Callable[[float], None] = ignore,
    cancel: threading.Event | None = None,
) -> Pyramid:
    """The pyramid of one head, computed in blocks of rows.

    `progress` is called with the finished fraction after each block. Raises `Cancelled` soon after
    `cancel` was set, and `BadInput` for a head or batch row that does not exist.
    """
    require_type("tiles.build", "call", call, AttentionCall, "give cap.call(layer)")
    call.check(head, batch)
    inputs = call.one_head(head, batch)
    peaks, totals, side = [], [], 1 << KEPT
    codes = np.zeros((-(-inputs.n_query // side), -(-inputs.n_key // side)), dtype=np.uint8)
    for rows in blocks(inputs.n_query):
        require_wanted(cancel)
        keys = inputs.visible_keys(rows)
        masked = inputs.masked(0, 0, rows, keys)
        peak, total = inputs.normalisers(masked, rows)
        peaks.append(peak)
        totals.append(total)
        block = encoded(pooled(masked.sub_(_log_total(peak, total)), side)).cpu().numpy()
        down = rows.start // side
        codes[down : down + block.shape[0], : block.shape[1]] = block
        progress(rows.stop / inputs.n_query)
    top = top_level(inputs.n_query, inputs.n_key)
    return Pyramid(inputs, torch.cat(peaks), torch.cat(totals), _levels(codes, top))


def top_level(n_query: int, n_key: int) -> int:
    """The lowest level at which one tile holds the whole matrix."""
    return max(0, (max(n_query, n_key) - 1) // TILE).bit_length()


def _levels(codes: UInt8[np.ndarray, "_down _across"], top: int) -> dict[int, np.ndarray]:
    """Every level from `KEPT` to the top; only `KEPT` if the top is lower."""
    levels = {KEPT: codes}
    for level in range(KEPT + 1, top + 1):
        levels[level] = halved(levels[level - 1])
    return levels


def _log_total(
    peak: Float[Tensor, "row one"], total: Float[Tensor, "row one"]
) -> Float[Tensor, "row one"]:
    """The number to subtract from a score to get the logarithm of its weight."""
    return peak + total.log()


def _side(tile: int) -> slice:
    return slice(tile * TILE, (tile + 1) * TILE)


def encoded(log_weights: Float[Tensor, "row column"]) -> UInt8[Tensor, "row column"]:
    """The nearest code of each log weight."""
    steps = log_weights.mul(STEPS_PER_E).add_(MAX_CODE + 0.5)
    return steps.clamp_(0, MAX_CODE).to(torch.uint8)


def decoded(codes: UInt8[np.ndarray, "..."]) -> Float32[np.ndarray, "..."]:
    """The weight that each code stands for; at most half a step from the encoded weight."""
    weights = np.exp2(OCTAVES * (codes.astype(np.float32) / MAX_CODE - 1))
    return np.where(codes == 0, np.float32(0), weights)


def bound(code: int) -> float:
    """An upper bound for the weights that have this code, rounding included."""
    return float(2 ** (OCTAVES * ((code + 0.51) / MAX_CODE - 1)))


def pooled(values: Float[Tensor, "row column"], factor: int) -> Float[Tensor, "down across"]:
    """The largest of each factor×factor cells, factor a power of two; fewer cells at the edges.

    Rows first: they are contiguous, and 1/factor of the work is left for the columns.
    """
    values = _filled(values, factor, dim=0)
    step = factor
    while step > 1:
        values = torch.maximum(values[0::2], values[1::2])
        step //= 2
    values = _filled(values, factor, dim=1)
    step = factor
    while step > 1:
        values = torch.maximum(values[:, 0::2], values[:, 1::2])
        step //= 2
    return values


def halved(codes: UInt8[np.ndarray, "row column"]) -> UInt8[np.ndarray, "down across"]:
    """The next level: the largest of each 2×2 codes."""
    rows, columns = codes.shape
    even = np.pad(codes, ((0, rows % 2), (0, columns % 2)))
    down = np.maximum(even[0::2], even[1::2])
    pooled_codes: UInt8[np.ndarray, "down across"] = np.maximum(down[:, 0::2], down[:, 1::2])
    return pooled_codes


def _filled(
    values: Float[Tensor, "row column"], factor: int, dim: int
) -> Float[Tensor, "filled_row filled_column"]:
    """The values, padded with −∞ to a multiple of the factor."""
    missing = -values.shape[dim] % factor
    if not missing:
        return values
    padding = (0, missing) if dim == 1 else (0, 0, 0, missing)
    return torch.nn.functional.pad(values, padding, value=-math.inf)
