"""Patches: a picture with the attention from any of its patches laid over it, beside all heads.

In: a `HeadsView` with its picture, and translated strings, packed once by `pack_patches` (cache the
bytes: equal bytes are not sent again). Out of `show_patches`: a committed `Selection` when pointer
or focus left the component with another choice, an `OpenRequest` for a head's other pages, either
validated. Pointing at patches and heads costs no message to the server.
"""

from collections.abc import Mapping

from attnviz.components.heads import HeadsView, pack_heads, wide_bits

NAME = "attnviz.patches"
STRING_KEYS: tuple[str, ...] = (
    "shared.scale",
    "shared.scale_linear",
    "shared.scale_sqrt",
    "shared.scale_log",
    "shared.colour_bar",
    "shared.heads",
    "shared.previous_head",
    "shared.next_head",
    "shared.open_steps",
    "grid.open_head",
    "grid.status",
    "head.approximate",
    "head.readout",
    "head.token_at",
    "patches.picture",
    "patches.idle",
    "patches.extras",
    "patches.extra",
    "patches.strongest",
    "patches.all_heads",
    "patches.mean",
    "patches.mean_title",
    "patches.mean_sentence",
    "patches.stretch",
    "patches.stretched",
    "patches.hint",
)


def pack_patches(view: HeadsView, strings: Mapping[str, str]) -> bytes:
    """The buffer of a picture and all heads: two bytes a weight, one where that is too much."""
    assert view.patches is not None, "no picture to show"
    return pack_heads(view, strings, bits=wide_bits(view), in_full=True)
