"""Alignment: source words above, target words below, the attention between them as lines.

In: a frozen `AlignmentView` of words and weights between words. Out: a committed head, mean and
word when pointer or focus left the canvas with another choice (`parse_choice`), and a request to
open the heatmap of a head. Pointing and choosing cost no message to the server. It opens with what
the model's card says of its cross-attention (`stated`); without a note, with the mean of all heads.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Float32

from attnviz.checks import card
from attnviz.checks.cards import HeadNote
from attnviz.pictures.group.groups import Group
from attnviz.pictures.shared.canvas import Canvas, derived, heads
from attnviz.pictures.shared.selection import MEANS, Extent, Mean, Selection, parse_selection
from attnviz.types import Site


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


def stated(name: str, group: Group) -> Stated:
    """The model card's note on cross-attention: about a head, a layer's mean, or all heads."""
    model_card = card(name)
    notes = () if model_card is None else model_card.description.heads
    for note in notes:
        if (note.stack, note.kind) == ("decoder", "cross"):
            return _stated(note, group)
    return Stated()


def _stated(note: HeadNote, group: Group) -> Stated:
    site = Site.parse(note.head)
    if site is None:
        return Stated(does=note.does)
    layer, head = site.layer, site.head or 0
    if layer >= group.n_layers or head >= group.call(layer).n_heads:
        return Stated()
    return Stated(layer, head, "layer" if site.head is None else None, note.does)
