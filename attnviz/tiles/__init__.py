"""One head's attention over a long text, without its n×n matrix in memory.

    head = tiles.build(cap.call(2), head=5, progress=print)
    head.tile(level=3, row=0, column=0)          # 256×256 codes, each the strongest of 8×8 cells
    head.weights(slice(0, 256), slice(0, 256))   # exact weights, float32
    tiles.strongest(head, count=20)              # outside the diagonal and the first column

`pooling` turns weights into codes and pools them, `pyramid` builds a head's tiles, `search` finds
its largest weights. Memory: q and k of the head, two numbers for each row, one byte for 64 cells.
"""

from attnviz.tiles.pyramid import OCTAVES, TILE, Pyramid, build, decoded, encoded, top_level
from attnviz.tiles.search import DIAGONAL, StrongCell, strongest

__all__ = [
    "DIAGONAL",
    "OCTAVES",
    "TILE",
    "Pyramid",
    "StrongCell",
    "build",
    "decoded",
    "encoded",
    "strongest",
    "top_level",
]
