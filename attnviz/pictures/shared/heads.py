"""All heads of one capture, as Overview, Head, Output and the picture of a vision model show them.

In: plain numpy arrays and texts that are already translated. Out: a frozen `HeadsView`. Its weights
travel as rounded square roots, in 8 bits for the overview, in 16 bits for one head's numbers as
long as that stays below `MAX_WIDE_BYTES`; of a causal model without the future.
The selection is no part of the buffer: it lives in the browser, and a commit must not resend it.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Bool, Float32, UInt8

from attnviz.pictures.shared.buffer import Packable, Sent, SomeHeads, packable, quantise
from attnviz.pictures.shared.canvas import INLINE, LISTED, LOCAL, ROWS, Encoded, derived, roots
from attnviz.pictures.shared.selection import Extent
from attnviz.tokens.words import Word
from attnviz.types import MIB
from attnviz.vision.token_boxes import Box

MAX_WIDE_BYTES = 24 * MIB
Weights = (
    Float32[np.ndarray, "layer head query key"]
    | SomeHeads
    | tuple[Float32[np.ndarray, "_ _ _"] | SomeHeads, ...]
)


@dataclass(frozen=True, eq=False)
class TokenAxis:
    """The tokens along one axis: special ones are muted, those that the model wrote are marked.

    `named` are the names of their rows where they ask, if those are not the tokens themselves.
    """

    labels: tuple[str, ...]
    special: Bool[np.ndarray, "token"]
    written: Bool[np.ndarray, "token"]
    named: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of the rows of these tokens."""
        return self.named or self.labels


@dataclass(frozen=True, eq=False)
class Axes:
    """The tokens along both axes as canvases read them; the same ones unless it is `cross`.

    `rows` are the names of the rows: of a decoder, what was read and what is predicted.
    """

    tokens: tuple[str, ...]
    rows: tuple[str, ...]
    special: Annotated[Bool[np.ndarray, "query"], LISTED]
    written: Annotated[Bool[np.ndarray, "query"], LISTED]
    key_tokens: tuple[str, ...]
    key_special: Annotated[Bool[np.ndarray, "key"], LISTED]
    key_written: Annotated[Bool[np.ndarray, "key"], LISTED]
    cross: bool

    @classmethod
    def of(cls, queries: TokenAxis, keys: TokenAxis, cross: bool) -> "Axes":
        """The axes of queries and keys."""
        along_keys = (keys.labels, keys.special, keys.written)
        along_rows = (queries.labels, queries.rows, queries.special, queries.written)
        return cls(*along_rows, *along_keys, cross)


@dataclass(frozen=True, eq=False)
class Patches:
    """A picture whose patches are the tokens from the `first` one on, row by row."""

    rows: int
    columns: int
    first: int
    picture: UInt8[np.ndarray, "row column rgb"]


@dataclass(frozen=True)
class Pooled:
    """Each point is the largest of `side` × `side` weights; how many queries and keys there are."""

    side: int
    n_query: int
    n_key: int


@dataclass(frozen=True, eq=False)
class First:
    """The picture before all weights have come: one head's weights, and maxima of all heads'.

    Each of `largest` is the largest of `side` × `side` weights; the last ones of a row or a column
    may stand for fewer.
    """

    layer: int
    head: int
    side: int
    largest: Annotated[Float32[np.ndarray, "layer head row column"] | SomeHeads, roots(8)]


@dataclass(frozen=True, eq=False)
class Heard:
    """A sound whose frames are the keys, as a spectrogram: high bands on top, 255 is loudest.

    Each frame has as many columns as the others; the sound may end before the last frame.
    """

    levels: UInt8[np.ndarray, "band column"]
    frames: int
    step_s: float
    seconds: float


@dataclass(frozen=True)
class LayerPatches:
    """The part of a picture that a layer sees: `rows` × `columns` patches of the layer's `grid`.

    `top` and `left` are the first of them; what leaves the board at one edge comes back at the
    other. `first` tokens stand before the patches. Where tokens are not one patch after the other,
    `query_boxes` and `key_boxes` say which patches each is, counted from `top` and `left`; `said`
    says in words what they stand for.
    """

    rows: int
    columns: int
    grid: tuple[int, int]
    top: int = 0
    left: int = 0
    first: int = 0
    query_boxes: tuple[Box | None, ...] | None = None
    key_boxes: tuple[Box | None, ...] | None = None
    said: str = ""


@dataclass(frozen=True, eq=False)
class LayerView:
    """The tokens of one layer, what it may attend to, and its window, where layers differ."""

    queries: Annotated[TokenAxis, LOCAL]
    keys: Annotated[TokenAxis, LOCAL]
    visible: Annotated[Bool[np.ndarray, "query key"], LOCAL]
    patches: LayerPatches | None = None

    @derived
    def axes(self) -> Annotated[Axes, INLINE]:
        """The tokens along both axes."""
        return Axes.of(self.queries, self.keys, len(self.queries.labels) != len(self.keys.labels))

    @derived
    def n_query(self) -> int:
        """The number of queries."""
        return len(self.queries.labels)

    @derived
    def n_key(self) -> int:
        """The number of keys."""
        return len(self.keys.labels)


@dataclass(frozen=True, eq=False)
class HeadMeasure:
    """One number for each head, by which heads can be sorted; NaN where a head has none."""

    name: str
    label: str
    unit: str
    values: Annotated[Float32[np.ndarray, "layer head"], LOCAL]


def stacked_measures(
    measures: tuple[HeadMeasure, ...],
) -> Float32[np.ndarray, "measure layer head"] | None:
    """The numbers of all measures; None if there is none."""
    if not measures:
        return None
    return np.stack([measure.values for measure in measures]).astype(np.float32)


@dataclass(frozen=True, eq=False)
class HeadsView:
    """All heads of one attention; `sentences[layer][head]` says in words what a head does most.

    `queries` and `keys` are the tokens on the two axes: the same ones unless it is `cross`.
    `visible` is what each layer may attend to, None where nothing is blocked. `words` and
    `key_words` say which tokens make a word, where that is of use. Where layers differ in heads or
    tokens, `layers` has one for each, and `weights` matrices for each; queries, keys and patches
    are then those of the first. `small` pictures need a byte for each weight. `capture` names what
    is shown: what comes later, measures and words for instance, comes under this name; until then
    `sentences` may be empty. With `first`, `weights` are those of that one head. `predicts` is True
    for a decoder: a row that has read a token predicts the next one, and is named after both.
    `grows` is True where grid and head stand on one page, and a square grows into the head;
    `forbids` where the page can run the model without a look. `kept` has the heads of each layer
    that were kept, where not all were; `weights` are of these alone, those of the others are 0.
    """

    model: str
    queries: Annotated[TokenAxis, LOCAL]
    keys: Annotated[TokenAxis, LOCAL]
    cross: bool
    sentences: tuple[tuple[str, ...], ...]
    weights: Annotated[Weights, Encoded(lambda view, _: view.codes())]
    patches: Patches | None = None
    measures: tuple[HeadMeasure, ...] = ()
    visible: Annotated[
        Bool[np.ndarray, "_ query key"] | None, Encoded(lambda view, _: view.seen())
    ] = None
    words: Annotated[tuple[Word, ...], ROWS] = ()
    key_words: Annotated[tuple[Word, ...], ROWS] = ()
    layers: tuple[LayerView, ...] = ()
    heard: Heard | None = None
    pooled: Pooled | None = None
    small: Annotated[bool, LOCAL] = False
    capture: str = ""
    predicts: bool = False
    first: First | None = None
    grows: bool = False
    forbids: bool = False
    kept: Annotated[tuple[tuple[int, ...], ...], LOCAL] = ()

    @property
    def extent(self) -> Extent:
        """The largest numbers of layers, heads, queries and keys."""
        if not isinstance(self.weights, tuple):
            heads = self.weights if self.first is None else self.first.largest
            n_layers, n_heads = heads.shape[:2]
            n_query, n_key = self.weights.shape[2:]
            return Extent(n_layers, n_heads, n_query, n_key, kept=self.kept)
        shapes = [weights.shape for weights in self.weights]
        heads, queries, keys = (max(sizes) for sizes in zip(*shapes, strict=True))
        by_layer = tuple(shape[0] for shape in shapes)
        return Extent(len(shapes), heads, queries, keys, by_layer, self.kept)

    @derived
    def axes(self) -> Annotated[Axes, INLINE]:
        """The tokens along both axes."""
        return Axes.of(self.queries, self.keys, self.cross)

    @derived
    def size(self) -> Annotated[Extent, INLINE]:
        """The largest numbers of layers, heads, queries and keys."""
        return self.extent

    @derived
    def shapes(self) -> tuple[tuple[int, int, int], ...] | None:
        """The numbers of heads, queries and keys of each layer, where layers differ."""
        if not isinstance(self.weights, tuple):
            return None
        return tuple((w.shape[0], w.shape[1], w.shape[2]) for w in self.weights)

    @derived
    def measured(self) -> Float32[np.ndarray, "measure layer head"] | None:
        """The numbers of all measures."""
        return stacked_measures(self.measures)

    def codes(self) -> Sent:
        """The weights as codes; one layer after the other where layers differ."""
        wide = not self.small and 2 * self.n_weights <= MAX_WIDE_BYTES
        bits: Literal[8, 16] = 16 if wide else 8
        if not isinstance(self.weights, tuple):
            return packable(self.weights, bits)
        cells = np.concatenate([quantise(_cells(w), bits).ravel() for w in self.weights])
        if not self.kept:
            return cells
        n_before = np.cumsum([0, *(weights.shape[0] for weights in self.weights)]).tolist()
        places = (n + head for n, kept in zip(n_before, self.kept, strict=False) for head in kept)
        return SomeHeads(cells, cells.shape, tuple(places))

    def seen(self) -> Bool[np.ndarray, "*cells"] | None:
        """The cells that each layer may see, once if all are alike, in a row if uneven."""
        if self.layers:
            return np.concatenate([layer.visible.ravel() for layer in self.layers])
        if self.visible is None:
            return None
        same = (self.visible == self.visible[:1]).all()
        return self.visible[:1] if same else self.visible

    @property
    def n_weights(self) -> int:
        """The number of weights of all heads."""
        layers = self.weights if isinstance(self.weights, tuple) else (self.weights,)
        return sum(_cells(weights).size for weights in layers)


def _cells(weights: Packable | SomeHeads) -> Packable:
    """The weights that there are."""
    return weights.stored if isinstance(weights, SomeHeads) else weights
