"""The film of the start page: a sentence, a word that asks, all heads, one head, a word exchanged.

In: a frozen `FilmView` with the weights of two sentences that differ in one word, and translated
strings. Out: a mounted component that draws the film from these numbers; a sentence that a visitor
types is sent as the event `text`. `film` plays it, `script` has its scenes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from jaxtyping import Float32

from attnviz.components.buffer import pack, quantise
from attnviz.components.heads import TokenAxis
from attnviz.types import HeadId

NAME = "attnviz.film"
SCENES = ("sentence", "asks", "heads", "head", "arcs", "change", "yours")
STRING_KEYS: tuple[str, ...] = (
    *(f"film.{scene}" for scene in SCENES),
    "film.label",
    "film.canvas",
    "film.play",
    "film.pause",
    "film.again",
    "film.skip",
    "film.position",
    "film.others",
    "film.others_to",
    "film.your_text",
    "film.look",
    "film.placeholder",
    "film.examples",
)


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

    tokens: TokenAxis
    weights: Float32[np.ndarray, "query key"]
    row: Float32[np.ndarray, "key"]
    key: PairWeight
    rival: PairWeight
    special: PairWeight


@dataclass(frozen=True, eq=False)
class FilmView:
    """The film: two readings, the weights of all heads in the first, and the cell it speaks of.

    `changed` is the token that differs between the sentences. `key` is what the query attends to
    in the first sentence, `rival` the word that is next to it in the second, `special` the special
    token that gets most there.
    """

    first: Reading
    second: Reading
    weights: Float32[np.ndarray, "layer head query key"]
    head: HeadId
    query: int
    key: int
    rival: int
    special: int
    changed: int


def pack_film(view: FilmView, texts: Sequence[str], strings: Mapping[str, str]) -> bytes:
    """The buffer of the film: all heads of the first sentence and the film's head of the second in
    one byte for each weight, two rows in full.

    `texts` are sentences that a visitor may look at next.
    """
    n_layers, n_heads, _, _ = view.weights.shape
    header = {
        "strings": dict(strings),
        "tokens": list(view.first.tokens.labels),
        "special": view.first.tokens.special.astype(int).tolist(),
        "changed_to": view.second.tokens.labels[view.changed],
        "n_layers": n_layers,
        "n_heads": n_heads,
        "layer": view.head.layer,
        "head": view.head.head,
        "query": view.query,
        "key": view.key,
        "rival": view.rival,
        "special_key": view.special,
        "changed": view.changed,
        "links": [
            {name: asdict(getattr(reading, name)) for name in ("key", "rival", "special")}
            for reading in (view.first, view.second)
        ],
        "texts": list(texts),
    }
    arrays = {
        "weights": quantise(view.weights, 8),
        "then": quantise(view.second.weights[None, None], 8),
        "first": view.first.row,
        "second": view.second.row,
    }
    return pack(header, arrays)
