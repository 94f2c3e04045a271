"""Windows of a picture: which patches the tokens of one window are (Liu et al. 2021, "Swin").

A layer with windows lays a board of squares over its grid of patches and attends inside each
square alone; all windows of a picture stand in the batch, row by row. Every second layer moves the
board by `shift` patches, and what leaves at the top comes back at the bottom. A board that is
larger than the grid is filled up with empty places, which are attended to as well.
In: sizes. Out: places (row, column) in the grid, tokens named by them. Nothing is read off numbers.
"""

from dataclasses import dataclass

import numpy as np

from attnviz.types import Tokens

EMPTY = "[·]"  # a place beyond the edge of the picture


def halved(grid: tuple[int, int]) -> tuple[int, int]:
    """The grid after 2 × 2 patches each became one; the edge is filled up."""
    return -(-grid[0] // 2), -(-grid[1] // 2)


@dataclass(frozen=True)
class Windows:
    """How a call's batch is made of windows: `count` of them for each picture.

    `grid` is the layer's own (rows, columns) of patches, None where the model's order of windows is
    not known; then tokens are numbers.
    """

    count: int
    side: int
    shift: int = 0
    grid: tuple[int, int] | None = None

    @property
    def board(self) -> tuple[int, int]:
        """How many windows stand below and beside one another; all in one row where not known."""
        if self.grid is None:
            return 1, self.count
        rows, columns = self.grid
        return -(-rows // self.side), -(-columns // self.side)

    def places(self, window: int) -> tuple[tuple[int, int] | None, ...]:
        """The (row, column) of each token of a window; None for an empty place."""
        assert self.grid is not None, "the order of windows is known"
        (rows, columns), (down, across) = self.grid, self.board
        top, left = (self.side * place for place in divmod(window, across))
        found = []
        for row, column in np.ndindex(self.side, self.side):
            down_at = (top + row + self.shift) % (down * self.side)
            across_at = (left + column + self.shift) % (across * self.side)
            inside = down_at < rows and across_at < columns
            found.append((down_at, across_at) if inside else None)
        return tuple(found)

    def tokens(self, window: int, n_token: int) -> Tokens:
        """The tokens of a window, named by their places; an empty place counts as special."""
        places = (None,) * n_token if self.grid is None else self.places(window)
        ids = np.arange(n_token, dtype=np.int64)
        labels = tuple(map(str, ids))
        if self.grid is not None:
            labels = tuple(EMPTY if at is None else f"r{at[0]}c{at[1]}" for at in places)
            ids = np.array(
                [-1 if at is None else at[0] * self.grid[1] + at[1] for at in places], np.int64
            )
        return Tokens(
            text="",
            ids=ids,
            pieces=labels,
            labels=labels,
            offsets=((0, 0),) * n_token,
            special=np.array([label == EMPTY for label in labels], dtype=np.bool_),
            padding=np.zeros(n_token, dtype=np.bool_),
        )

    def covering(self, row: float, column: float) -> int:
        """The window that has the place so far down and across the picture, both in 0..1."""
        down, across = self.board
        if self.grid is None:
            return min(int(column * across), self.count - 1)
        place = (int(row * self.grid[0]), int(column * self.grid[1]))
        at = [
            (min(of, of_all - 1) - self.shift) % (n * self.side) // self.side
            for of, of_all, n in zip(place, self.grid, (down, across), strict=True)
        ]
        return at[0] * across + at[1]

    def centre(self, window: int) -> tuple[float, float]:
        """Where in the picture the middle of a window is, (down, across) in 0..1."""
        down, across = self.board
        row, column = divmod(window, across)
        if self.grid is None:
            return 0.5, (column + 0.5) / across
        middle = self.side / 2 + self.shift
        found = [
            (at * self.side + middle) % (n * self.side) / of
            for at, n, of in zip((row, column), (down, across), self.grid, strict=True)
        ]
        return min(found[0], 1.0), min(found[1], 1.0)
