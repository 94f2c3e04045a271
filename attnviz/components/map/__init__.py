"""Map: queries and keys of many texts in one plane, all heads small and one head large.

In: a frozen `MapView` whose texts are already translated. Out: the selection that a visitor
commits, as of any component, and a request to open a token of some text on another page. Places
travel as 16 bits, weights as 8-bit square roots; colours are made in the browser.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float32, UInt8, UInt16

from attnviz.components.buffer import pack, quantise

NAME = "attnviz.map"
STRING_KEYS: tuple[str, ...] = tuple(
    f"map.{name}"
    for name in (
        "all",
        "plane",
        "rule",
        "kept",
        "popular",
        "rotated",
        "more",
        "tsne",
        "tsne_kept",
        "colour",
        "by_side",
        "by_position",
        "by_kind",
        "by_norm",
        "by_text",
        "by_frequency",
        "query",
        "key",
        "kind_word",
        "kind_continuation",
        "kind_number",
        "kind_punctuation",
        "kind_special",
        "first",
        "last",
        "short",
        "long",
        "rare",
        "often",
        "yours",
        "others",
        "search",
        "found",
        "lasso",
        "lassoed",
        "whole",
        "clear",
        "hint",
        "point",
        "point_query",
        "point_key",
        "gets",
        "gives",
        "edge",
        "open_head",
        "open_steps",
        "text",
    )
)
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
    texts: tuple[MapText, ...]
    labels: tuple[str, ...]
    label_of: UInt16[np.ndarray, " token"]
    kind: UInt8[np.ndarray, " token"]
    places: Float32[np.ndarray, "head side token axis"]
    norms: Float32[np.ndarray, "head side token"]
    weights: Float32[np.ndarray, "head cell"]
    rotated: bool
    more: bool
    tsne: MapTsne | None = None
    thumbs: UInt8[np.ndarray, "token row column rgb"] | None = None


def pack_map(view: MapView, strings: Mapping[str, str]) -> bytes:
    """The buffer of a view."""
    counts = np.bincount([head.layer for head in view.heads]).tolist()
    header = {
        "strings": dict(strings),
        "heads": [asdict(head) for head in view.heads],
        "texts": [[text.start, text.stop, text.own, int(text.openable)] for text in view.texts],
        "labels": list(view.labels),
        "n_layers": len(counts),
        "n_heads": max(counts),
        "counts": counts,
        "rotated": int(view.rotated),
        "more": int(view.more),
        "tsne": None if view.tsne is None else asdict(view.tsne),
    }
    words = view.kind != KINDS.index("special")
    half = scales(view.places[:, :, words])
    if view.tsne is not None:  # no point of it is far out
        half[view.tsne.head] = 1.05 * np.abs(view.places[view.tsne.head]).max()
    arrays = {
        "label_of": view.label_of,
        "kind": view.kind,
        "places": coded(view.places, half),
        "norms": _bytes(view.norms),
        "weights": quantise(view.weights, 8),
    }
    return pack(header, arrays if view.thumbs is None else {**arrays, "thumbs": view.thumbs})


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


def _bytes(norms: Float32[np.ndarray, "head side token"]) -> UInt8[np.ndarray, "head side token"]:
    """Lengths in 0 to 255, the longest of each head and side at 255."""
    most = np.maximum(norms.max(axis=-1, keepdims=True), 1e-12)
    return np.asarray(np.rint(255 * norms / most), np.uint8)
