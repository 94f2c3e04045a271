"""Alignment: source words above, target words below, the attention between them as lines.

In: a frozen `AlignmentView` of words and weights between words. Out: a committed head, mean and
word when pointer or focus left the canvas with another choice (`parse_choice`), and a request to
open the heatmap of a head. Pointing and choosing cost no message to the server.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Float32

from attnviz.pictures.shared.canvas import Canvas, derived, heads
from attnviz.pictures.shared.selection import MEANS, Extent, Mean, Selection, parse_selection


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
    weights: Annotated[Float32[np.ndarray, "layer head target source"], heads(16)]
    stated: Stated
    probability: float | None = None

    @derived
    def n_layers(self) -> int:
        """The number of layers."""
        return len(self.weights)

    @derived
    def n_heads(self) -> int:
        """The number of heads of a layer."""
        n_heads: int = self.weights.shape[1]
        return n_heads


CANVAS = Canvas("alignment", (AlignmentView,))


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
