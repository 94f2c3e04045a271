"""The map of queries and keys as its component shows it: many texts, and the visitor's among them.

In: the planes of the heads and captures. Out: a `MapView`. Nothing is fitted here: the texts are
placed where the planes put them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float32, Int64, UInt8

from attnviz.attention.batch_weights import all_weights
from attnviz.attention.inputs import AttentionInputs, batch_row
from attnviz.corpus.biplot import dot_product
from attnviz.pictures.map import KINDS, MapHead, MapText, MapTsne, MapView, TokenKind
from attnviz.tokens.labels import CONTINUATION

if TYPE_CHECKING:
    from attnviz.attention.capture import Capture
    from attnviz.corpus.embed import Embedding
    from attnviz.corpus.neighbours import Neighbours


THUMB = 8  # pixels along a side of a patch


@dataclass(frozen=True, eq=False)
class TextOnMap:
    """One text in the planes of all heads, without its padding."""

    labels: tuple[str, ...]
    kind: UInt8[np.ndarray, " token"]
    places: Float32[np.ndarray, "head side token axis"]
    norms: Float32[np.ndarray, "head side token"]
    weights: Float32[np.ndarray, "head cell"]
    more: bool
    thumbs: UInt8[np.ndarray, "token row column rgb"] | None = None


def texts_on_map(
    embedding: "Embedding",
    cap: "Capture",
    pictures: Sequence[UInt8[np.ndarray, "_row _column rgb"] | None] | None = None,
) -> tuple[TextOnMap, ...]:
    """The tokens of each text of a capture; of `pictures`, with their patches."""
    weights = [all_weights(cap.call(layer).inputs).cpu().numpy() for layer in range(cap.n_layers)]
    every = [None] * cap.n_batch if pictures is None else pictures
    return tuple(
        _text(embedding, cap, row, [layer[row] for layer in weights], picture)
        for row, picture in zip(range(cap.n_batch), every, strict=True)
    )


def _text(
    embedding: "Embedding",
    cap: "Capture",
    row: int,
    weights_by_layer: Sequence[Float32[np.ndarray, "head query key"]],
    picture: UInt8[np.ndarray, "_row _column rgb"] | None,
) -> TextOnMap:
    tokens = cap.tokens_of(row)
    real = np.flatnonzero(~tokens.padding)
    labels = tuple(tokens.labels[place] for place in real)
    kinds = ["special" if tokens.special[place] else kind(tokens.labels[place]) for place in real]
    placed = embedding.place(cap, row)
    norms, weights, more = [], [], False
    for layer, every in enumerate(weights_by_layer):
        inputs = dot_product(cap.call(layer))
        weights.append(every[:, real[:, None], real].reshape(len(every), -1))
        norms.append(_lengths(inputs, row, real))
        more = more or inputs.bias is not None or inputs.softcap is not None
    return TextOnMap(
        labels=labels,
        kind=np.array([KINDS.index(name) for name in kinds], np.uint8),
        places=np.stack([placed.queries[:, real], placed.keys[:, real]], axis=1),
        norms=np.concatenate(norms),
        weights=np.concatenate(weights).astype(np.float32),
        more=more,
        thumbs=None if picture is None else thumbs(picture, cap.grid, len(real)),
    )


def thumbs(
    picture: UInt8[np.ndarray, "row column rgb"], grid: tuple[int, int] | None, n_token: int
) -> UInt8[np.ndarray, "token px px rgb"] | None:
    """Each patch of a picture as `THUMB` × `THUMB` pixels, black for tokens before the patches.

    None where the patches are not the last tokens, row by row.
    """
    if grid is None or grid[0] * grid[1] > n_token:
        return None
    down, across = (
        (np.arange(count * THUMB) + 0.5) * size / (count * THUMB)
        for count, size in zip(grid, picture.shape[:2], strict=True)
    )
    pixels = picture[np.ix_(down.astype(int), across.astype(int))]
    patches = pixels.reshape(grid[0], THUMB, grid[1], THUMB, 3).swapaxes(1, 2)
    every = np.zeros((n_token, THUMB, THUMB, 3), np.uint8)
    every[n_token - grid[0] * grid[1] :] = patches.reshape(-1, THUMB, THUMB, 3)
    return every


def map_view(
    embedding: "Embedding",
    texts: Sequence[TextOnMap],
    own: TextOnMap | None,
    openable: bool,
    by_tsne: "Neighbours | None" = None,
    more: Sequence[TextOnMap] = (),
) -> MapView:
    """The texts on the map, the visitor's last; `openable` if other pages can show the others.

    `more` are further texts of the visitor's, before the one that is shown. `by_tsne` places the
    same tokens for one head, in the stead of its plane.
    """
    owners = [*[0] * len(texts), *[2] * len(more), *([] if own is None else [1])]
    every = [*texts, *more, *([] if own is None else [own])]
    labels = dict.fromkeys(label for part in every for label in part.labels)
    number = {label: place for place, label in enumerate(labels)}
    stops = np.cumsum([len(part.labels) for part in every]).tolist()
    spans = zip([0, *stops[:-1]], stops, owners, strict=True)
    places = np.concatenate([part.places for part in every], axis=2)
    if by_tsne is not None:
        places[embedding.row(by_tsne.head)] = np.stack([by_tsne.queries, by_tsne.keys])
    return MapView(
        heads=_heads(embedding),
        texts=tuple(
            MapText(start, stop, owner, owner > 0 or openable) for start, stop, owner in spans
        ),
        labels=tuple(labels),
        label_of=np.array([number[name] for part in every for name in part.labels], np.uint16),
        kind=np.concatenate([part.kind for part in every]),
        places=places,
        norms=np.concatenate([part.norms for part in every], axis=2),
        weights=np.concatenate([part.weights for part in every], axis=1),
        rotated=embedding.rotated,
        more=any(part.more for part in every),
        tsne=None if by_tsne is None else _tsne(embedding, by_tsne),
        thumbs=_all_thumbs(every),
    )


def _all_thumbs(texts: Sequence[TextOnMap]) -> UInt8[np.ndarray, "token px px rgb"] | None:
    """The patches of all pictures; None unless each has them."""
    known = [part.thumbs for part in texts if part.thumbs is not None]
    return np.concatenate(known) if len(known) == len(texts) else None


def _tsne(embedding: "Embedding", by_tsne: "Neighbours") -> MapTsne:
    kept, plane = (round(value, 4) for value in (by_tsne.kept, by_tsne.kept_by_plane))
    return MapTsne(embedding.row(by_tsne.head), _known(kept), _known(plane))


def kind(label: str) -> TokenKind:
    """The kind of a token that the tokenizer did not add, by its label."""
    if label.startswith(CONTINUATION):
        return "continuation"
    word = label.strip("␣ ")
    if word.isnumeric():
        return "number"
    return "word" if any(map(str.isalnum, word)) else "punctuation"


def _heads(embedding: "Embedding") -> tuple[MapHead, ...]:
    table = embedding.table()
    shares = zip(table["kept"].tolist(), table["popularity"].tolist(), strict=True)
    return tuple(
        MapHead(head.layer, head.head, _known(kept), _known(popularity))
        for head, (kept, popularity) in zip(embedding.heads, shares, strict=True)
    )


def _known(share: float) -> float | None:
    return None if np.isnan(share) else round(share, 4)


def _lengths(
    inputs: AttentionInputs, row: int, real: Int64[np.ndarray, " token"]
) -> Float32[np.ndarray, "head side token"]:
    """The lengths of a text's queries and keys, by query head."""
    sides = []
    for vectors in (inputs.query, inputs.key):
        lengths = batch_row(vectors, row).float().norm(dim=-1).cpu().numpy()[:, real]
        sides.append(np.repeat(lengths, inputs.n_heads // len(lengths), axis=0))
    return np.stack(sides, axis=1)
