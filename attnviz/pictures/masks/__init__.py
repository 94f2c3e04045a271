"""The Masks view: which cells the masks of a batch block, and what other masks would do.

In: a frozen `MasksData`, one head of one or two sentences with its scores before any mask and the
weights that the model used. Out: the head that the visitor asked for. A *variant* is the bit mask
of the masks applied (bit i: the i-th of `mask_names`); `as_model` is the one the model really ran.
What another variant would do is computed in the browser, as soon as a mask is switched, sized or
drawn.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.masks.spec import MaskName
from attnviz.pictures.shared.canvas import LISTED, LOCAL, Canvas, derived
from attnviz.pictures.shared.heads import TokenAxis

# what keys are, where the padding mask blocks some of them: it is titled after that
PaddingOf = Literal["padding", "memory", "blocks"]
# a mask that has a name, or the one that the model made, where it has none
ShownMask = MaskName | Literal["model"]
SizedName = Literal["window", "prefix", "block"]


@dataclass(frozen=True, eq=False)
class MasksData:
    """One head of a padded batch under every combination of its named masks."""

    queries: Annotated[tuple[TokenAxis, ...], LOCAL]
    keys: Annotated[tuple[TokenAxis, ...], LOCAL]
    cross: bool
    padding: Annotated[Bool[np.ndarray, "batch query"], LISTED]
    key_padding: Annotated[Bool[np.ndarray, "batch key"], LISTED]
    layer: int
    head: int
    n_layers: int
    n_heads: int
    as_model: int
    sizes: Mapping[SizedName, int]
    mask_names: tuple[ShownMask, ...]  # texts of these names title them
    mask_reasons: tuple[str, ...]
    padding_of: PaddingOf
    model_blocks: Bool[np.ndarray, "batch query key"]
    weights: Float32[np.ndarray, "batch query key"]  # as the model ran
    scaled: Float32[np.ndarray, "batch query key"]
    sinks: Float32[np.ndarray, "batch query"]
    kept: tuple[tuple[int, ...], ...] = ()

    @derived
    def tokens(self) -> tuple[tuple[str, ...], ...]:
        """The names of each sentence's rows."""
        return tuple(axis.rows for axis in self.queries)

    @derived
    def special(self) -> Annotated[Bool[np.ndarray, "batch query"], LISTED]:
        """True for special tokens."""
        return np.stack([axis.special for axis in self.queries])

    @derived
    def written(self) -> Annotated[Bool[np.ndarray, "batch query"], LISTED]:
        """True for tokens that the model generated."""
        return np.stack([axis.written for axis in self.queries])

    @derived
    def key_tokens(self) -> tuple[tuple[str, ...], ...]:
        """The tokens along the keys of each sentence."""
        return tuple(axis.labels for axis in self.keys)

    @derived
    def key_special(self) -> Annotated[Bool[np.ndarray, "batch key"], LISTED]:
        """True for special tokens among the keys."""
        return np.stack([axis.special for axis in self.keys])

    @derived
    def key_written(self) -> Annotated[Bool[np.ndarray, "batch key"], LISTED]:
        """True for generated tokens among the keys."""
        return np.stack([axis.written for axis in self.keys])


CANVAS = Canvas("masks", (MasksData,))
