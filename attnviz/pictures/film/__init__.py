"""The film of the start page: a sentence, a word that asks, all heads, one head, a word exchanged.

In: a frozen `FilmView` with the weights of two sentences that differ in one word, from which the
browser draws the film. Out: a sentence that a visitor types, as the event `text`. `script` has its
scenes. `film` makes it from two captures, a head, a query and a key: every number is the model's,
each weight beside its control (`attnviz.pictures.group.ranking`).
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.pictures.group import groups, ranking
from attnviz.pictures.group.groups import Group
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


def film(first: Group, second: Group, head: HeadId, query: int, key: int) -> FilmView:
    """The film of a head's cell in two sentences that differ in one token.

    The rival is the word, beside the key, that gets most weight in the second sentence; beside it
    stands the special token that gets most.
    `ValueError` if they differ in more or fewer tokens, `BadInput` for a position they do not have.
    """
    axes = [_axis(group) for group in (first, second)]
    changed = _changed(*axes)
    weights = [groups.stacked(group) for group in (first, second)]
    of_head = [of_text[head.layer, head.head] for of_text in weights]
    rows = [of_text[query] for of_text in of_head]
    weights_of_words = np.where(axes[1].special, -np.inf, rows[1])
    weights_of_words[[query, key, changed]] = -np.inf
    rival = int(np.argmax(weights_of_words))
    special = int(np.argmax(np.where(axes[1].special, rows[1], -np.inf)))
    before, after = (
        Reading(
            axis, own, own[query], *(_link(group, head, query, at) for at in (key, rival, special))
        )
        for group, axis, own in zip((first, second), axes, of_head, strict=True)
    )
    return FilmView(before, after, weights[0], head, query, key, rival, special, changed)


def _changed(first: TokenAxis, second: TokenAxis) -> int:
    """The one token in which two sentences differ."""
    pairs = zip(first.labels, second.labels, strict=True)
    (place,) = [place for place, (before, after) in enumerate(pairs) if before != after]
    return place


def _axis(group: Group) -> TokenAxis:
    tokens = groups.keys(group)
    return TokenAxis(tokens.labels, tokens.special, np.zeros(len(tokens), np.bool_))


def _link(group: Group, head: HeadId, query: int, key: int) -> PairWeight:
    link = next(link for link in ranking.links(group, query, key) if link.head == head)
    return PairWeight(link.share, link.control)
