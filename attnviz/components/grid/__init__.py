"""Overview grid: every head of a model as a small heatmap, the one under the pointer enlarged.

In: a `HeadsView` and translated strings, packed once by `pack_grid` (cache the bytes: equal bytes
are not sent again). Out of `show_grid`: a committed `Selection` when pointer or focus left the
component with another head chosen, an `OpenRequest` when a head was clicked, either validated.
Pointing at heads and moving the cursor cost no message to the server.
"""

from collections.abc import Mapping

from attnviz.components.heads import HeadsView, pack_heads

NAME = "attnviz.grid"
STRING_KEYS: tuple[str, ...] = (
    "shared.query_axis",
    "shared.key_axis",
    "shared.scale_sqrt",
    "shared.colour_bar",
    "shared.heads",
    "shared.open_steps",
    "grid.canvas",
    "grid.tokens",
    "grid.hint",
    "grid.hint_touch",
    "grid.preview",
    "grid.open_head",
    "grid.status",
    "grid.strongest",
    "grid.looks",
    "grid.weights_note",
    "grid.pooled_note",
    "grid.order",
    "grid.by_layer",
    "grid.measured",
    "grid.cells",
    "grid.mean",
    "grid.max",
    "grid.of_layer",
    "grid.of_column",
    "grid.of_all",
    "grid.mean_says",
    "grid.max_says",
    "shared.written",
    "head.picture",
    "head.picture_idle",
)


def pack_grid(view: HeadsView, strings: Mapping[str, str]) -> bytes:
    """The buffer of the overview: one byte for each weight."""
    return pack_heads(view, strings, bits=8)
