"""The film of the start page: a sentence, a word that asks, all heads, one head, a word exchanged.

In: a frozen `FilmView` with the weights of two sentences that differ in one word, from which the
browser draws the film. Out: a sentence that a visitor types, as the event `text`. `script` has its
scenes.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.pictures.shared.canvas import INLINE, LISTED, LOCAL, Canvas, derived, roots
from attnviz.pictures.shared.heads import TokenAxis
from attnviz.types import HeadId

SCENES = ("sentence", "asks", "heads", "head", "arcs", "change", "yours")


@dataclass(frozen=True)
class PairWeight:
    """The weight from the film's query to a key, and the mean weight of the head's other rows."""

    weight: float
    others: float


@dataclass(frozen=True, eq=False)
class Reading:
    """A sentence that the model read: its tokens, and its links to the three keys of the film.

    `weights` are those of the film's head.
    """

    tokens: Annotated[TokenAxis, LOCAL]
    weights: Annotated[Float32[np.ndarray, "query key"], LOCAL]
    row: Float32[np.ndarray, "key"]
    key: PairWeight
    rival: PairWeight
    special: PairWeight


@dataclass(frozen=True, eq=False)
class FilmView:
    """The film: two readings, the weights of all heads in the first, and the cell it speaks of.

    `changed` is the token that differs between the sentences. `key` is what the query attends to
    in the first sentence, `rival` the word that is next to it in the second, `special_key` the
    special token that gets most there. `texts` are sentences that a visitor may look at next.
    """

    first: Reading
    second: Reading
    weights: Annotated[Float32[np.ndarray, "layer head query key"], roots(8)]
    head: Annotated[HeadId, INLINE]
    query: int
    key: int
    rival: int
    special_key: int
    changed: int
    texts: tuple[str, ...] = ()

    @derived
    def tokens(self) -> tuple[str, ...]:
        """The tokens of the first sentence."""
        return self.first.tokens.labels

    @derived
    def special(self) -> Annotated[Bool[np.ndarray, "token"], LISTED]:
        """True for its special tokens."""
        return self.first.tokens.special

    @derived
    def changed_to(self) -> str:
        """The token in place of `changed` in the second sentence."""
        return self.second.tokens.labels[self.changed]

    @derived
    def n_layers(self) -> int:
        """The number of layers."""
        return len(self.weights)

    @derived
    def n_heads(self) -> int:
        """The number of heads of a layer."""
        n_heads: int = self.weights.shape[1]
        return n_heads

    @derived
    def then(self) -> Annotated[Float32[np.ndarray, "1 1 query key"], roots(8)]:
        """The weights of the film's head in the second sentence."""
        return self.second.weights[None, None]


CANVAS = Canvas("film", (FilmView,))
