"""The map of queries and keys as its component shows it: many texts, and the visitor's among them.

In: the planes of the heads and captures. Out: a `MapView`. Nothing is fitted here: the texts are
placed where the planes put them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float32, Int64, UInt8

from attnviz.attention.inputs import AttentionInputs, batch_row
from attnviz.components.map import KINDS, MapHead, MapText, MapView, TokenKind
from attnviz.embed.moments import dot_product
from attnviz.tokens.labels import CONTINUATION

if TYPE_CHECKING:
    from attnviz.attention.capture import Capture
    from attnviz.embed.run import Embedding


@dataclass(frozen=True, eq=False)
class TextOnMap:
    """One text in the planes of all heads, without its padding."""

    labels: tuple[str, ...]
    kind: UInt8[np.ndarray, " token"]
    places: Float32[np.ndarray, "head side token axis"]
    norms: Float32[np.ndarray, "head side token"]
    weights: Float32[np.ndarray, "head cell"]
    more: bool


def text_on_map(embedding: "Embedding", cap: "Capture", row: int = 0) -> TextOnMap:
    """The tokens of one text of a capture."""
    tokens = cap.tokens_of(row)
    real = np.flatnonzero(~tokens.padding)
    labels = tuple(tokens.labels[place] for place in real)
    kinds = ["special" if tokens.special[place] else kind(tokens.labels[place]) for place in real]
    placed = embedding.place(cap, row)
    norms, weights, more = [], [], False
    for layer in range(cap.n_layers):
        call = cap.call(layer)
        inputs = dot_product(call)
        every = call.weights(None, row).cpu().numpy()
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
    )


def map_view(
    embedding: "Embedding", texts: Sequence[TextOnMap], own: TextOnMap | None, openable: bool
) -> MapView:
    """The texts on the map, the visitor's last; `openable` if other pages can show the others."""
    every = [*texts, *([] if own is None else [own])]
    labels = dict.fromkeys(label for part in every for label in part.labels)
    number = {label: place for place, label in enumerate(labels)}
    stops = np.cumsum([len(part.labels) for part in every]).tolist()
    spans = zip([0, *stops[:-1]], stops, every, strict=True)
    return MapView(
        heads=_heads(embedding),
        texts=tuple(
            MapText(start, stop, part is own, part is own or openable)
            for start, stop, part in spans
        ),
        labels=tuple(labels),
        label_of=np.array([number[name] for part in every for name in part.labels], np.uint16),
        kind=np.concatenate([part.kind for part in every]),
        places=np.concatenate([part.places for part in every], axis=2),
        norms=np.concatenate([part.norms for part in every], axis=2),
        weights=np.concatenate([part.weights for part in every], axis=1),
        rotated=embedding.rotated,
        more=any(part.more for part in every),
    )


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
