"""Similarity: a table of cosines between sentences, numbers and colours.

In: a frozen `SimilarityView` and translated strings. Out: a mounted component, which sends nothing
back. `own` marks the visitor's sentences among those that stand there to compare with.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32

from attnviz.components.buffer import pack

NAME = "attnviz.similarity"
STRING_KEYS: tuple[str, ...] = ("similarity.own", "similarity.legend", "similarity.pair")


@dataclass(frozen=True, eq=False)
class SimilarityView:
    """`cosine[i, j]` is that of sentences i and j; the first `n_own` are the visitor's."""

    caption: str
    sentences: tuple[str, ...]
    n_own: int
    cosine: Float32[np.ndarray, "sentence sentence"]


def pack_similarity(view: SimilarityView, strings: Mapping[str, str]) -> bytes:
    """The buffer of a view."""
    sentences = [
        {"text": sentence, "own": int(place < view.n_own)}
        for place, sentence in enumerate(view.sentences)
    ]
    header = {"strings": dict(strings), "caption": view.caption, "sentences": sentences}
    return pack(header, {"cosine": view.cosine})
