"""The Masks view: what a padded batch hides, and what a causal mask would hide as well.

In: a frozen `MasksData`, one head of one or two sentences with the weights of every combination
of masks, computed beforehand by the library, and the texts of `STRING_KEYS`, translated, by the
last part of their key. Out: bytes to keep (`pack_masks`), and from mounting them (`show_masks`) the
head that the visitor asked for, as a validated `Selection`, or None. A *variant* is the bit mask of
the masks applied (bit i: the i-th of `mask_names`); `as_model` is the one the model really ran.
`demo.json` is the header of a hand-sized example, held to this file by a test.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, UInt8

from attnviz.ui.components import buffer
from attnviz.ui.components.heads import Axis, axes_header
from attnviz.ui.components.mounting import mount
from attnviz.ui.components.selection import Extent, Selection, ignore

NAME = "attnviz.masks"
STRING_KEYS: tuple[str, ...] = (
    "shared.layer",
    "shared.head",
    "shared.previous_layer",
    "shared.next_layer",
    "shared.previous_head",
    "shared.next_head",
    "shared.clear_cell",
    "masks.padding",
    "masks.causal",
    "masks.model",
    "masks.layers_legend",
    "masks.as_ran",
    "masks.what_if",
    "masks.banner_as_ran",
    "masks.banner_what_if",
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


@dataclass(frozen=True, eq=False)
class MasksData:
    """One head of a padded batch under every combination of its named masks."""

    queries: tuple[Axis, ...]
    keys: tuple[Axis, ...]
    cross: bool
    padding: Bool[np.ndarray, "batch token"]  # of the queries
    layer: int
    head: int
    n_layers: int
    n_heads: int
    as_model: int
    mask_names: tuple[
        str, ...
    ]  # "padding", "causal", "model": their titles are texts of those names
    mask_reasons: tuple[str, ...]
    blocked: UInt8[np.ndarray, "batch query key"]
    weights: Float32[np.ndarray, "batch variant query key"]
    masked: Float32[np.ndarray, "batch variant query key"]
    scaled: Float32[np.ndarray, "batch query key"]
    strings: Mapping[str, str]


def show_masks(
    data: bytes,
    extent: Extent,
    key: str = "masks",
    on_selection: Callable[[], None] = ignore,
) -> Selection | None:
    """Mounts packed masks; the selection that the visitor committed, None for none or nonsense."""
    return mount(NAME, data, extent, key, on_selection).selection


def pack_masks(data: MasksData) -> bytes:
    """What travels to the browser: the header and the four arrays."""
    arrays: dict[str, buffer.Packable] = {
        "blocked": data.blocked,
        "weights": data.weights,
        "masked": data.masked,
        "scaled": data.scaled,
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
        "layer": data.layer,
        "head": data.head,
        "n_layers": data.n_layers,
        "n_heads": data.n_heads,
        "as_model": data.as_model,
        "mask_names": list(data.mask_names),
        "mask_reasons": list(data.mask_reasons),
    }
