"""Map: queries and keys of many texts in one plane, all heads small and one head large.

In: a frozen `MapView` whose texts are already translated. Out: the selection that a visitor
commits, as of any component, and a request to open a token of some text on another page. Places
and the square roots of weights travel as 16 bits; colours are made in the browser.
"""

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

import numpy as np
from jaxtyping import Float32, UInt8, UInt16

from attnviz.pictures.shared.canvas import ROWS, Canvas, Encoded, derived, roots

TokenKind = Literal["word", "continuation", "number", "punctuation", "special"]
KINDS: tuple[TokenKind, ...] = get_args(TokenKind)
MIDDLE = 32768  # the code of 0
HALF = 32767
QUANTILE = 0.995  # of the words' coordinates: what is further out stands at the edge


@dataclass(frozen=True)
class MapHead:
    """A head: the share that its plane keeps, and what all its queries have in common; None for a
    head whose scores are all alike."""

    layer: int
    head: int
    kept: float | None
    popularity: float | None


@dataclass(frozen=True)
class MapText:
    """A text: its tokens are those from `start` to before `stop`. `own` is 1 for the visitor's text
    that other pages show, 2 for another of the visitor's; `openable` True if they can show it."""

    start: int
    stop: int
    own: int
    openable: bool


@dataclass(frozen=True)
class MapTsne:
    """The head that t-SNE places, its number among the heads; how far nearness has the order of the
    scores within a row (a rank correlation), and how far the plane's inner products have it."""

    head: int
    kept: float | None
    plane: float | None


@dataclass(frozen=True, eq=False)
class MapView:
    """All heads of a model on some texts, one text after the other.

    `label_of` is each token's place in `labels`, `kind` that in `KINDS`. `norms` are the lengths of
    q and k. `weights` are each text's, row by row, one text after the other. `tsne` is None where
    all heads are drawn in their planes. `thumbs` are the patches of pictures, black for tokens that
    are no patch.
    """

    heads: tuple[MapHead, ...]
    texts: Annotated[tuple[MapText, ...], ROWS]
    labels: tuple[str, ...]
    label_of: UInt16[np.ndarray, " token"]
    kind: UInt8[np.ndarray, " token"]
    places: Annotated[
        Float32[np.ndarray, "head side token axis"], Encoded(lambda view, _: view.coded_places())
    ]
    norms: Annotated[
        Float32[np.ndarray, "head side token"], Encoded(lambda _, norms: bytes_of(norms))
    ]
    weights: Annotated[Float32[np.ndarray, "head cell"], roots(16)]
    rotated: bool
    more: bool
    tsne: MapTsne | None = None
    thumbs: UInt8[np.ndarray, "token row column rgb"] | None = None

    @derived
    def counts(self) -> tuple[int, ...]:
        """The number of heads of each layer."""
        return tuple(np.bincount([head.layer for head in self.heads]).tolist())

    @derived
    def n_layers(self) -> int:
        """The number of layers."""
        return len(self.counts)

    @derived
    def n_heads(self) -> int:
        """The largest number of heads of a layer."""
        return max(self.counts)

    def coded_places(self) -> UInt16[np.ndarray, "head side token axis"]:
        """The places as codes, those of words within reach."""
        half = scales(self.places[:, :, self.kind != KINDS.index("special")])
        if self.tsne is not None:  # no point of it is far out
            half[self.tsne.head] = 1.05 * np.abs(self.places[self.tsne.head]).max()
        return coded(self.places, half)


CANVAS = Canvas("map", (MapView,))


def scales(places: Float32[np.ndarray, "head side token axis"]) -> Float32[np.ndarray, " head"]:
    """Half the width of each head's plane, the same for both axes."""
    reach = np.abs(places).reshape(len(places), -1)
    return np.asarray(np.maximum(1.05 * np.quantile(reach, QUANTILE, axis=1), 1e-6), np.float32)


def coded(
    places: Float32[np.ndarray, "head side token axis"], half: Float32[np.ndarray, " head"]
) -> UInt16[np.ndarray, "head side token axis"]:
    """Places as 1 to 65535, 32768 in the middle; what is further out stands at the edge."""
    steps = np.rint(places / half[:, None, None, None] * HALF)
    return np.asarray(np.clip(steps, -HALF, HALF) + MIDDLE, np.uint16)


def bytes_of(norms: Float32[np.ndarray, "head side token"]) -> UInt8[np.ndarray, "head side token"]:
    """Lengths in 0 to 255, the longest of each head and side at 255."""
    most = np.maximum(norms.max(axis=-1, keepdims=True), 1e-12)
    return np.asarray(np.rint(255 * norms / most), np.uint8)
