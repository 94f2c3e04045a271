"""Similarity: a table of cosines between sentences, numbers and colours.

In: a frozen `SimilarityView`. Nothing comes back. The visitor's sentences come first, before those
that stand there to compare with.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32

from attnviz.pictures.shared.canvas import Canvas


@dataclass(frozen=True, eq=False)
class SimilarityView:
    """`cosine[i, j]` is that of sentences i and j; the first `n_own` are the visitor's."""

    caption: str
    sentences: tuple[str, ...]
    n_own: int
    cosine: Float32[np.ndarray, "sentence sentence"]


CANVAS = Canvas("similarity", (SimilarityView,))
