"""Head page: one head as heatmap and lines, all heads at hand without asking the server.

In: a `HeadsView` and translated strings, packed once by `pack_head` (cache the bytes: equal bytes
are not sent again). Out of `show_head`: a committed `Selection` when pointer or focus left the
component with another choice, an `OpenRequest` for the steps of a head, either validated.
Switching layer, head, scale or focus costs no message to the server.
"""

from collections.abc import Mapping

from attnviz.components.heads import HeadsView, pack_heads, wide_bits

NAME = "attnviz.head"
STRING_KEYS: tuple[str, ...] = (
    "shared.query_axis",
    "shared.key_axis",
    "shared.scale",
    "shared.scale_linear",
    "shared.scale_sqrt",
    "shared.scale_log",
    "shared.colour_bar",
    "shared.heads",
    "shared.previous_head",
    "shared.next_head",
    "shared.open_steps",
    "head.heatmap",
    "head.lines",
    "head.lines_all",
    "head.lines_query",
    "head.lines_key",
    "head.query",
    "head.key",
    "head.hide_special",
    "head.hidden_mean",
    "head.hidden_row",
    "head.all_special",
    "head.readout",
    "head.readout_idle",
    "head.ranked",
    "head.ranked_idle",
    "head.ranked_others",
    "head.approximate",
    "head.hint",
    "head.token_at",
    "head.token_written",
    "head.picture",
    "head.picture_idle",
    "head.sums",
    "head.received",
    "head.row_sum",
    "head.column_readout",
    "head.row_readout",
    "head.sums_idle",
    "head.words",
    "head.words_note",
    "head.pieces",
    "head.lines_every",
    "head.top",
    "head.all",
    "head.layout",
    "head.layout_down",
    "head.layout_across",
    "head.keep",
    "head.let_go",
    "shared.heard",
    "shared.heard_note",
    "shared.heard_rest",
)


def pack_head(view: HeadsView, strings: Mapping[str, str]) -> bytes:
    """The buffer of the head page: two bytes for each weight, one where that would be too much."""
    return pack_heads(view, strings, bits=wide_bits(view), in_full=True)
