"""The patches in each attention window of a picture (Liu et al. 2021, "Swin").

A layer with windows divides its grid of patches into squares and attends inside each square only;
the windows of a picture are rows of the batch, row by row of the picture. Every second layer shifts
the windows by `shift` patches, and patches that leave at the top come back at the bottom. If the
windows do not divide the grid, the last ones are padded with empty places, which are attended to as
well. In: sizes. Out: places (row, column) in the grid, tokens named by them. Nothing is guessed
from the numbers of the model.
"""

from dataclasses import dataclass

import numpy as np

from attnviz.types import Tokens

EMPTY = "[·]"  # a place beyond the edge of the picture


def halved(grid: tuple[int, int]) -> tuple[int, int]:
    """The grid after each 2 × 2 patches became one; an odd edge is padded."""
    return -(-grid[0] // 2), -(-grid[1] // 2)


@dataclass(frozen=True)
class Windows:
    """The windows in a call's batch: `count` for each picture, each `side` × `side` patches.

    `shift` is the offset of the windows in patches. `grid` is the layer's (rows, columns) of
    patches, None if the model's order of windows is unknown; then tokens are numbers.
    """

    count: int
    side: int
    shift: int = 0
    grid: tuple[int, int] | None = None

    @property
    def board(self) -> tuple[int, int]:
        """The number of rows and of columns of windows; one row if the grid is unknown."""
        if self.grid is None:
            return 1, self.count
        rows, columns = self.grid
        return -(-rows // self.side), -(-columns // self.side)

    def places(self, window: int) -> tuple[tuple[int, int] | None, ...]:
        """The (row, column) of each token of a window; None for an empty place."""
        assert self.grid is not None, "the order of windows is known"
        (rows, columns), (down, across) = self.grid, self.board
        top, left = (self.side * place for place in divmod(window, across))
        places = []
        for row, column in np.ndindex(self.side, self.side):
            patch_row = (top + row + self.shift) % (down * self.side)
            patch_column = (left + column + self.shift) % (across * self.side)
            inside = patch_row < rows and patch_column < columns
            places.append((patch_row, patch_column) if inside else None)
        return tuple(places)

    def tokens(self, window: int, n_token: int) -> Tokens:
        """The tokens of a window, named by their places; an empty place counts as special."""
        places = (None,) * n_token if self.grid is None else self.places(window)
        ids = np.arange(n_token, dtype=np.int64)
        labels = tuple(map(str, ids))
        if self.grid is not None:
            labels = tuple(EMPTY if p is None else f"r{p[0]}c{p[1]}" for p in places)
            ids = np.array(
                [-1 if p is None else p[0] * self.grid[1] + p[1] for p in places], np.int64
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
        """The window at a place of the picture, given as fractions of its height and width."""
        down, across = self.board
        if self.grid is None:
            return min(int(column * across), self.count - 1)
        place = (int(row * self.grid[0]), int(column * self.grid[1]))
        window_row, window_column = (
            (min(patch, n_patch - 1) - self.shift) % (n_window * self.side) // self.side
            for patch, n_patch, n_window in zip(place, self.grid, (down, across), strict=True)
        )
        return window_row * across + window_column

    def centre(self, window: int) -> tuple[float, float]:
        """The middle of a window, as fractions of the picture's height and width."""
        down, across = self.board
        row, column = divmod(window, across)
        if self.grid is None:
            return 0.5, (column + 0.5) / across
        middle = self.side / 2 + self.shift
        height, width = (
            (place * self.side + middle) % (n_window * self.side) / n_patch
            for place, n_window, n_patch in zip(
                (row, column), (down, across), self.grid, strict=True
            )
        )
        return min(height, 1.0), min(width, 1.0)
