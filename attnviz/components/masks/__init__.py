"""The Masks view: which cells the masks of a batch block, and what other masks would do.

In: a frozen `MasksData`, one head of one or two sentences with its scores before any mask and the
weights that the model used, and the texts of `STRING_KEYS`, translated, by the last part of their
key. Out: bytes to keep (`pack_masks`), and from mounting them (`show_masks`) the head that the
visitor asked for, as a validated `Selection`, or None. A *variant* is the bit mask of the masks
applied (bit i: the i-th of `mask_names`); `as_model` is the one the model really ran. What another
variant would do is computed in the browser, as soon as a mask is switched, sized or drawn.
`demo.json` is the header of a hand-sized example, held to this file by a test.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.components import buffer
from attnviz.components.heads import PICKER_KEYS, TokenAxis, axes_header

NAME = "attnviz.masks"
STRING_KEYS: tuple[str, ...] = (
    *PICKER_KEYS,
    "shared.clear_cell",
    "masks.padding",
    "masks.causal",
    "masks.window",
    "masks.prefix",
    "masks.block",
    "masks.custom",
    "masks.model",
    "masks.memory",
    "masks.blocks",
    "masks.size_of",
    "masks.draw_hint",
    "masks.undraw",
    "masks.layers_legend",
    "masks.as_ran",
    "masks.what_if",
    "masks.banner_as_ran",
    "masks.banner_what_if",
    "masks.reset",
    "masks.map_label",
    "masks.sentence",
    "masks.sentence_counts",
    "masks.legend_weight",
    "masks.legend_blocked",
    "masks.legend_both",
    "masks.dead_rows",
    "masks.no_dead_rows",
    "masks.may_attend",
    "masks.blocked",
    "masks.readout_pair",
    "masks.hint",
    "masks.row_caption",
    "masks.col_key",
    "masks.col_scaled",
    "masks.col_masked",
    "masks.col_weight",
    "masks.col_model",
    "masks.col_difference",
    "masks.col_reason",
    "masks.total",
)


# what keys are, where the padding mask blocks some of them: it is titled after that
PaddingOf = Literal["padding", "memory", "blocks"]


@dataclass(frozen=True, eq=False)
class MasksData:
    """One head of a padded batch under every combination of its named masks."""

    queries: tuple[TokenAxis, ...]
    keys: tuple[TokenAxis, ...]
    cross: bool
    padding: Bool[np.ndarray, "batch query"]
    key_padding: Bool[np.ndarray, "batch key"]
    layer: int
    head: int
    n_layers: int
    n_heads: int
    as_model: int
    sizes: Mapping[str, int]
    mask_names: tuple[str, ...]  # of `masks.spec`, or "model"; texts of these names title them
    mask_reasons: tuple[str, ...]
    padding_of: PaddingOf
    model_blocks: Bool[np.ndarray, "batch query key"]
    weights: Float32[np.ndarray, "batch query key"]  # as the model ran
    scaled: Float32[np.ndarray, "batch query key"]
    sinks: Float32[np.ndarray, "batch query"]
    strings: Mapping[str, str]


def pack_masks(data: MasksData) -> bytes:
    """The buffer sent to the browser: the header and the four arrays."""
    arrays: dict[str, buffer.Packable] = {
        "model_blocks": data.model_blocks.astype(np.uint8),
        "weights": data.weights,
        "scaled": data.scaled,
        "sinks": data.sinks,
    }
    return buffer.pack(header(data), arrays)


def header(data: MasksData) -> dict[str, object]:
    """Everything but the numbers, as `component.js` reads it."""
    sentences = [
        axes_header(queries, keys, data.cross)
        for queries, keys in zip(data.queries, data.keys, strict=True)
    ]
    return {
        "strings": dict(data.strings),
        **{name: [axes[name] for axes in sentences] for name in sentences[0]},
        "cross": int(data.cross),
        "padding": data.padding.astype(int).tolist(),
        "key_padding": data.key_padding.astype(int).tolist(),
        "layer": data.layer,
        "head": data.head,
        "n_layers": data.n_layers,
        "n_heads": data.n_heads,
        "as_model": data.as_model,
        "sizes": dict(data.sizes),
        "mask_names": list(data.mask_names),
        "mask_reasons": list(data.mask_reasons),
        "padding_of": data.padding_of,
    }
