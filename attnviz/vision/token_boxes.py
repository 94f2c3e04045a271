"""Where in a picture the tokens along one axis of a call are, and what they are called.

Most tokens of a picture are one patch each, row by row. In some layers a token stands for more: the
keys of an efficient attention are blocks of patches (Wang et al. 2021, "PVT"), pooled queries too
(Ryali et al. 2023, "Hiera"), and the order of tokens may be the model's own.
In: sizes, in patches of the layer's finest grid. Out: the box of each token, and tokens named by
their row and column. Nothing is read off numbers.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from attnviz.types import Tokens

Span = tuple[int, int]  # first and behind the last of the patches, in a row or a column
Box = tuple[int, int, int, int]  # top, left, bottom, right; the last two are outside
Cell = tuple[int, int]

BLOCK = " block"  # behind the name of a token that stands for several patches
EXTRA = "[CLS]"


@dataclass(frozen=True)
class Places:
    """Where tokens are: `cells` gives each one's row and column in their own grid.

    `grid` is (rows, columns) of patches; the token in row i and column j covers the patches of
    `rows[i]` and `columns[j]`. `cells` has one entry for each window of the batch, one where all
    rows of the batch are alike; None is a token that is no part of the picture.
    """

    grid: tuple[int, int]
    rows: tuple[Span, ...]
    columns: tuple[Span, ...]
    cells: tuple[tuple[Cell | None, ...], ...]

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns of tokens there are."""
        return len(self.rows), len(self.columns)

    @property
    def coarse(self) -> bool:
        """Whether tokens stand for more than one patch."""
        return any(stop - start != 1 for start, stop in (*self.rows, *self.columns))

    @property
    def in_rows(self) -> bool:
        """Whether the tokens of the picture follow one another row by row, in one window."""
        found = [cell for cell in self.cells[0] if cell is not None]
        return len(self.cells) == 1 and found == list(np.ndindex(self.shape))

    @property
    def overlapping(self) -> bool:
        """Whether neighbouring tokens share patches."""
        return any(
            before[1] > after[0]
            for spans in (self.rows, self.columns)
            for before, after in pairwise(spans)
        )

    def boxes(self, batch: int = 0) -> tuple[Box | None, ...]:
        """The patches of each token of a row of the batch."""
        return tuple(None if cell is None else self._box(cell) for cell in self._cells(batch))

    def _box(self, cell: Cell) -> Box:
        (top, bottom), (left, right) = self.rows[cell[0]], self.columns[cell[1]]
        return top, left, bottom, right

    def _cells(self, batch: int) -> tuple[Cell | None, ...]:
        return self.cells[batch % len(self.cells)]

    def tokens(self, batch: int = 0, block: str = BLOCK) -> Tokens:
        """The tokens of a row of the batch; `block` stands behind the name of a coarse one."""
        cells, word = self._cells(batch), block if self.coarse else ""
        labels = tuple(EXTRA if at is None else f"r{at[0]}c{at[1]}{word}" for at in cells)
        return Tokens(
            text="",
            ids=np.array([-1 if at is None else self._id(at) for at in cells], dtype=np.int64),
            pieces=labels,
            labels=labels,
            offsets=((0, 0),) * len(cells),
            special=np.array([at is None for at in cells], dtype=np.bool_),
            padding=np.zeros(len(cells), dtype=np.bool_),
        )

    def _id(self, cell: Cell) -> int:
        return cell[0] * len(self.columns) + cell[1]


def spread(
    grid: tuple[int, int], rows: tuple[Span, ...], columns: tuple[Span, ...], n_extra: int = 0
) -> Places:
    """Tokens row by row over all the picture; `n_extra` others stand before them."""
    cells = tuple((row, column) for row in range(len(rows)) for column in range(len(columns)))
    return Places(grid, rows, columns, ((None,) * n_extra + cells,))


def patches(grid: tuple[int, int], n_extra: int = 0) -> Places:
    """Every token a patch, row by row."""
    return spread(grid, single(grid[0]), single(grid[1]), n_extra)


def single(count: int) -> tuple[Span, ...]:
    """Spans of one patch each."""
    return tuple((at, at + 1) for at in range(count))
