"""Alignment: source words above, target words below, the attention between them as lines.

In: a frozen `AlignmentView` of words and weights between words, packed once by `pack_alignment`
(cache the bytes: equal bytes are not sent again). Out of `show_alignment`: a committed head, mean
and word when pointer or focus left the component with another choice, and an `OpenRequest` for the
heatmap of a head, either validated. Pointing and choosing cost no message to the server.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32

from attnviz.components.buffer import pack, packable
from attnviz.components.selection import MEANS, Extent, Mean, Selection, parse_selection

NAME = "attnviz.alignment"
STRING_KEYS: tuple[str, ...] = (
    "shared.heads",
    "alignment.what",
    "alignment.one_head",
    "alignment.mean_layer",
    "alignment.mean_all",
    "alignment.name_layer",
    "alignment.name_all",
    "alignment.open_heatmap",
    "alignment.source_words",
    "alignment.target_words",
    "alignment.canvas",
    "alignment.idle",
    "alignment.hint",
    "alignment.ranked_label",
    "alignment.looks_at",
    "alignment.looked_at",
    "alignment.rest",
    "alignment.probability",
    "alignment.total",
    "alignment.share",
    "alignment.said_target",
    "alignment.said_source",
)


@dataclass(frozen=True)
class ShownWord:
    """A word; `at` is the position of its first key, or of the row that predicts its first token.

    `probability` is what the model gives a target word after those before it.
    """

    text: str
    at: int
    special: bool = False
    probability: float | None = None


@dataclass(frozen=True)
class Stated:
    """The initial choice: a head, the mean of a layer's heads, or of all; `does` says why."""

    layer: int = 0
    head: int = 0
    mean: Mean | None = "all"
    does: str = ""


@dataclass(frozen=True, eq=False)
class AlignmentView:
    """Both sides and the weights of every head between their words."""

    source: tuple[ShownWord, ...]
    target: tuple[ShownWord, ...]
    weights: Float32[np.ndarray, "layer head target source"]
    stated: Stated
    probability: float | None = None


def pack_alignment(view: AlignmentView, strings: Mapping[str, str]) -> bytes:
    """The buffer of a view: two bytes for each weight."""
    stated = view.stated
    header = {
        "strings": dict(strings),
        "n_layers": view.weights.shape[0],
        "n_heads": view.weights.shape[1],
        "source": [_word(word) for word in view.source],
        "target": [_word(word) for word in view.target],
        "probability": view.probability,
        "stated": {"layer": stated.layer, "head": stated.head, "mean": stated.mean},
        "does": stated.does,
    }
    return pack(header, {"weights": packable(view.weights, 16)})


def _word(word: ShownWord) -> dict[str, object]:
    entry: dict[str, object] = {"text": word.text, "at": word.at, "special": int(word.special)}
    return entry if word.probability is None else entry | {"probability": word.probability}


def parse_choice(value: object, extent: Extent) -> tuple[Selection, Mean | None] | None:
    """The committed head, word and mean; None when anything is missing or does not fit."""
    chosen = parse_selection(value, extent)
    if chosen is None or not isinstance(value, Mapping):
        return None
    more = value.get("more")
    mean = more.get("mean") if isinstance(more, Mapping) else None
    if mean is not None and mean not in MEANS:
        return None
    return chosen, mean
