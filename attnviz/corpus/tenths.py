"""The texts of a survey in ten groups by a measure of one head, with a few texts of each group.

In: a histogram and the texts that were drawn for each of its bins. Out: ten `Tenth`s. A text stands
in one of them only: where most texts have one value, several tenths are the same bin.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int64, UInt64

from attnviz.corpus.tally import EXAMPLES, NO_TICKET

TENTHS = 10


class Tenth(NamedTuple):
    """The first and last bin of a tenth, and the texts drawn for it: places bin·`EXAMPLES` + i."""

    first: int
    last: int
    drawn: tuple[int, ...]


def tenths(
    histogram: Int64[np.ndarray, " bin"], ticket: UInt64[np.ndarray, "bin example"]
) -> tuple[Tenth, ...]:
    """The tenths of a head's histogram, smallest values first; () for an empty one.

    The tenths take turns to draw up to `EXAMPLES` texts each, the narrowest first, since a wide one
    has more bins to draw from. A tenth draws the free text with the smallest ticket in its bins.
    """
    if not histogram.any():
        return ()
    below = np.cumsum(histogram) / histogram.sum()
    inner = np.searchsorted(below, np.arange(1, TENTHS) / TENTHS - 1e-12)
    full = np.flatnonzero(histogram)
    edges = [int(full[0]), *map(int, inner), int(full[-1])]
    spans = list(zip(edges[:-1], edges[1:], strict=True))
    free = ticket.ravel() != NO_TICKET
    drawn: list[list[int]] = [[] for _ in spans]
    turns = sorted(range(TENTHS), key=lambda place: spans[place][1] - spans[place][0])
    for place in turns * EXAMPLES:
        first, last = spans[place]
        inside = np.arange(first * EXAMPLES, (last + 1) * EXAMPLES)
        inside = inside[free[inside]]
        if len(inside):
            chosen = int(inside[ticket.ravel()[inside].argmin()])
            free[chosen] = False
            drawn[place].append(chosen)
    return tuple(Tenth(*span, tuple(texts)) for span, texts in zip(spans, drawn, strict=True))
