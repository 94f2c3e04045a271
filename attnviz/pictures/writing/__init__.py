"""Writing: the text grows token by token, with each token's attention and what it was drawn from.

In: a `WritingView`, the heads of the stack that writes and the `Draws` of its positions; or a
`PlayerView`, only the tokens and the size of the attention, for the bar above the picture of
another page. Out: a committed `Selection` whose query is the token that was stepped to, an
`OpenRequest`. Playing, stepping, choosing a head or a token cost no message to the server; the
other canvases of the page follow each step.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float32, Int64, UInt8, UInt16

from attnviz.pictures.shared.canvas import INLINE, LOCAL, Canvas, Encoded, derived
from attnviz.pictures.shared.heads import Axes, HeadsView
from attnviz.pictures.shared.selection import Extent

EMPTY, NO_SLOT = 2**16 - 1, 2**8 - 1
AS_FLOATS = Encoded(lambda _, counts: counts.astype(np.float32), exact=True)


@dataclass(frozen=True, eq=False)
class Draws:
    """The candidates for each token: a row for each position from `first` on, tokens in slots.

    `labels` are those of the tokens in the slots, "" in an empty one; `drawn` is the slot of the
    token that follows, -1 for none. `sampling` says in words how tokens are drawn; `sampled` is
    False where it is greedily.
    """

    first: int
    n_vocabulary: int
    labels: Annotated[tuple[tuple[str, ...], ...], LOCAL]
    before: Float32[np.ndarray, "position slot"]
    after: Float32[np.ndarray, "position slot"]
    cut: UInt8[np.ndarray, "position slot"]
    drawn: Annotated[Int64[np.ndarray, "position"], Encoded(lambda _, drawn: _slots(drawn))]
    rank: Annotated[Int64[np.ndarray, "position"], AS_FLOATS]
    others: Float32[np.ndarray, "position two"]
    n_left: Annotated[Int64[np.ndarray, "position"], AS_FLOATS]
    sampled: bool
    sampling: str

    @derived
    def vocabulary(self) -> tuple[str, ...]:
        """The tokens in any slot, each once."""
        return tuple(sorted({label for row in self.labels for label in row if label}))

    @derived
    def ids(self) -> UInt16[np.ndarray, "position slot"]:
        """The place of each slot's token in the vocabulary."""
        place = {label: i for i, label in enumerate(self.vocabulary)} | {"": EMPTY}
        return np.array([[place[label] for label in row] for row in self.labels], np.uint16)


def _slots(drawn: Int64[np.ndarray, "position"]) -> UInt8[np.ndarray, "position"]:
    return np.where(drawn < 0, NO_SLOT, drawn).astype(np.uint8)


@dataclass(frozen=True, eq=False)
class WritingView:
    """The whole page: all heads of the stack that writes, and what its tokens were drawn from."""

    heads: Annotated[HeadsView, INLINE]
    draws: Draws
    compact: Literal[False] = False


@dataclass(frozen=True, eq=False)
class PlayerView:
    """The bar alone."""

    axes: Annotated[Axes, INLINE]
    extent: Annotated[Extent, INLINE]
    compact: Literal[True] = True


CANVAS: Canvas[WritingView | PlayerView] = Canvas("writing", (WritingView, PlayerView))
