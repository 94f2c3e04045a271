"""Writing: the text grows token by token, with each token's attention and what it was drawn from.

In: a `HeadsView` of the stack that writes and the `Draws` of its positions (`pack_writing`); or
only the tokens and the size of the attention, for the bar that stands above the picture of another
page (`pack_player`). Out of `show_writing`: a committed `Selection` whose query is the token that
was stepped to, an `OpenRequest`, either validated. Playing, stepping, choosing a head or
a token cost no message to the server; the other components of the page follow each step.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int64, UInt8

from attnviz.components.buffer import pack
from attnviz.components.heads import HeadsView, TokenAxis, axes_header, codes, heads_header
from attnviz.components.selection import Extent

NAME = "attnviz.writing"
PLAYER_KEYS: tuple[str, ...] = (
    "writing.player",
    "writing.play",
    "writing.pause",
    "writing.to_start",
    "writing.step_back",
    "writing.step_forward",
    "writing.to_end",
    "writing.slider",
    "writing.count",
    "writing.speed",
    "writing.speed_slow",
    "writing.speed_normal",
    "writing.speed_fast",
)
STRING_KEYS: tuple[str, ...] = (
    *PLAYER_KEYS,
    "shared.key_axis",
    "shared.query_axis",
    "shared.heads",
    "shared.written",
    "writing.text_written",
    "writing.text_given",
    "writing.looks",
    "writing.status",
    "writing.open_head",
    "writing.mean",
    "writing.mean_of",
    "writing.hint",
    "writing.hint_given",
    "writing.mode",
    "writing.mode_from",
    "writing.mode_next",
    "writing.from_title",
    "writing.given_title",
    "writing.next_title",
    "writing.no_draw",
    "writing.drawn",
    "writing.given",
    "writing.after",
    "writing.before",
    "writing.others",
    "writing.left",
    "writing.cut_by_top_k",
    "writing.cut_by_top_p",
    "writing.probability",
    "writing.probability_sampled",
)
EMPTY, NO_SLOT = 2**16 - 1, 2**8 - 1


@dataclass(frozen=True, eq=False)
class Draws:
    """The candidates for each token: a row for each position from `first` on, tokens in slots.

    `labels` are those of the tokens in the slots, "" in an empty one; `drawn` is the slot of the
    token that follows, -1 for none. `sampling` says in words how tokens are drawn; `sampled` is
    False where it is greedily.
    """

    first: int
    n_vocabulary: int
    labels: tuple[tuple[str, ...], ...]
    before: Float32[np.ndarray, "position slot"]
    after: Float32[np.ndarray, "position slot"]
    cut: UInt8[np.ndarray, "position slot"]
    drawn: Int64[np.ndarray, "position"]
    rank: Int64[np.ndarray, "position"]
    others: Float32[np.ndarray, "position two"]
    n_left: Int64[np.ndarray, "position"]
    sampled: bool
    sampling: str


def pack_writing(view: HeadsView, draws: Draws, strings: Mapping[str, str]) -> bytes:
    """The buffer of the page: one byte for each weight, the likeliest tokens of each position."""
    vocabulary = sorted({label for row in draws.labels for label in row if label})
    place = {label: i for i, label in enumerate(vocabulary)} | {"": EMPTY}
    header = {
        **heads_header(view, strings),
        "compact": 0,
        "draws": {
            "first": draws.first,
            "n_vocabulary": draws.n_vocabulary,
            "sampled": int(draws.sampled),
            "sampling": draws.sampling,
            "vocabulary": vocabulary,
        },
    }
    return pack(
        header,
        {
            "weights": codes(view, 8),
            "ids": np.array([[place[label] for label in row] for row in draws.labels], np.uint16),
            "before": draws.before,
            "after": draws.after,
            "cut": draws.cut,
            "drawn": np.where(draws.drawn < 0, NO_SLOT, draws.drawn).astype(np.uint8),
            "rank": draws.rank.astype(np.float32),
            "others": draws.others,
            "left": draws.n_left.astype(np.float32),
        },
    )


def pack_player(
    queries: TokenAxis, keys: TokenAxis, cross: bool, extent: Extent, strings: Mapping[str, str]
) -> bytes:
    """The buffer of the bar alone."""
    header = {
        "strings": dict(strings),
        **axes_header(queries, keys, cross),
        "n_layers": extent.n_layers,
        "n_heads": extent.n_heads,
        "n_query": extent.n_query,
        "n_key": extent.n_key,
        "compact": 1,
    }
    return pack(header, {})
