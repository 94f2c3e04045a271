"""The places in a picture, and the names, of the tokens along one axis of a call.

Most tokens of a picture are one patch each, row by row. In some layers a token stands for several:
the keys of an efficient attention are blocks of patches (Wang et al. 2021, "PVT"), as are pooled
queries (Ryali et al. 2023, "Hiera"), and the model may order its tokens in another way.
In: sizes, in patches of the layer's finest grid. Out: the box of each token, and tokens named by
their row and column. Nothing is guessed from the numbers of the model.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from attnviz.types import Tokens

PatchRange = tuple[int, int]  # the first patch and the one behind the last, of a row or column
Box = tuple[int, int, int, int]  # top, left, bottom, right; the last two are outside
GridCell = tuple[int, int]  # row and column

BLOCK = " block"  # the end of the name of a token that stands for several patches
EXTRA = "[CLS]"


@dataclass(frozen=True)
class Places:
    """The places of tokens: `cells` gives each token's row and column in a grid of tokens.

    `grid` is (rows, columns) of patches; the token in row i and column j covers the patches of
    `rows[i]` and `columns[j]`. `cells` has one entry for each window of the batch, or a single one
    if all rows of the batch are alike; None is a token that is not part of the picture.
    """

    grid: tuple[int, int]
    rows: tuple[PatchRange, ...]
    columns: tuple[PatchRange, ...]
    cells: tuple[tuple[GridCell | None, ...], ...]

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns of tokens."""
        return len(self.rows), len(self.columns)

    @property
    def coarse(self) -> bool:
        """True if a token stands for more than one patch."""
        return any(stop - start != 1 for start, stop in (*self.rows, *self.columns))

    @property
    def in_rows(self) -> bool:
        """True if the tokens of the picture follow one another row by row, in one window."""
        inside = [cell for cell in self.cells[0] if cell is not None]
        return len(self.cells) == 1 and inside == list(np.ndindex(self.shape))

    @property
    def overlapping(self) -> bool:
        """True if neighbouring tokens share patches."""
        return any(
            before[1] > after[0]
            for ranges in (self.rows, self.columns)
            for before, after in pairwise(ranges)
        )

    def boxes(self, batch: int = 0) -> tuple[Box | None, ...]:
        """The box of each token of one row of the batch, in patches; None outside the picture."""
        return tuple(None if cell is None else self._box(cell) for cell in self._cells(batch))

    def _box(self, cell: GridCell) -> Box:
        (top, bottom), (left, right) = self.rows[cell[0]], self.columns[cell[1]]
        return top, left, bottom, right

    def _cells(self, batch: int) -> tuple[GridCell | None, ...]:
        return self.cells[batch % len(self.cells)]

    def tokens(self, batch: int = 0, block: str = BLOCK) -> Tokens:
        """The tokens of one row of the batch; the names of coarse tokens end with `block`."""
        cells, end = self._cells(batch), block if self.coarse else ""
        labels = tuple(EXTRA if cell is None else f"r{cell[0]}c{cell[1]}{end}" for cell in cells)
        return Tokens(
            text="",
            ids=np.array([-1 if cell is None else self._id(cell) for cell in cells], np.int64),
            pieces=labels,
            labels=labels,
            offsets=((0, 0),) * len(cells),
            special=np.array([cell is None for cell in cells], dtype=np.bool_),
            padding=np.zeros(len(cells), dtype=np.bool_),
        )

    def _id(self, cell: GridCell) -> int:
        return cell[0] * len(self.columns) + cell[1]


def spread(
    grid: tuple[int, int],
    rows: tuple[PatchRange, ...],
    columns: tuple[PatchRange, ...],
    n_extra: int = 0,
) -> Places:
    """Tokens row by row over the whole picture, after `n_extra` tokens outside the picture."""
    cells = tuple((row, column) for row in range(len(rows)) for column in range(len(columns)))
    return Places(grid, rows, columns, ((None,) * n_extra + cells,))


def patches(grid: tuple[int, int], n_extra: int = 0) -> Places:
    """One token for each patch, row by row."""
    return spread(grid, single(grid[0]), single(grid[1]), n_extra)


def single(count: int) -> tuple[PatchRange, ...]:
    """Ranges of one patch each."""
    return tuple((place, place + 1) for place in range(count))
