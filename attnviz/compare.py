"""Two captures side by side: corresponding tokens, and the differences between their heads.

    axis = compare.pair(a.tokens, b.tokens, same_vocabulary=True).slots
    change = compare.difference(a.weights("L5.H11"), b.weights("L5.H11"), axis, axis)

In: the `Tokens` of two sides, A and B, and weights of both. Out: a `Pairing`: the parts of both
sides and the `Slot`s of one common axis; differences B − A on that axis; and the share of attention
that moved. A slot with a part of one side only has no counterpart and no difference. If two
tokenizers split one text differently, tokens are joined up to the next boundary that both have, and
mass is conserved: summed over the keys of a part, averaged over its queries.
Source: the longest matching blocks of `difflib` (Ratcliff and Metzener 1988); total variation
distance as in Levin and Peres 2017, section 4.1.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from jaxtyping import Float32

from attnviz.errors import BadInput
from attnviz.summary import counted
from attnviz.tokens.labels import visible
from attnviz.types import Tokens

__all__ = [
    "Pairing",
    "Piece",
    "Slot",
    "difference",
    "mean_moved",
    "moved",
    "moved_by_head",
    "pair",
]


@dataclass(frozen=True)
class Piece:
    """The tokens from `start` to before `stop` of one side, compared as a unit.

    Parts of two sides are equal if their `name`s are.
    """

    start: int
    stop: int
    label: str
    special: bool
    name: Hashable


@dataclass(frozen=True)
class Slot:
    """One place of the common axis: the number of a part of A, of one of B, or both.

    `same` is True if the two parts are equal.
    """

    a: int | None
    b: int | None
    same: bool = False

    @property
    def paired(self) -> bool:
        """True if both sides have a part here."""
        return self.a is not None and self.b is not None


@dataclass(frozen=True)
class Pairing:
    """The parts of both sides, in order, and the axis on which they are compared."""

    a: tuple[Piece, ...]
    b: tuple[Piece, ...]
    slots: tuple[Slot, ...]

    @property
    def merged(self) -> bool:
        """True if some part has several tokens."""
        return any(part.stop - part.start > 1 for part in (*self.a, *self.b))

    def __repr__(self) -> str:
        sizes = f"{counted(len(self.a), 'part')} with {len(self.b)}"
        return f"Pairing of {sizes} on an axis of {counted(len(self.slots), 'place')}"


def pair(a: Tokens, b: Tokens, same_vocabulary: bool) -> Pairing:
    """The pairing of two sequences of tokens.

    With one vocabulary, single tokens are compared. With two, the texts must be equal, and parts
    are the pieces between boundaries that both tokenizers set; `BadInput` if they are not equal.
    """
    if same_vocabulary:
        sides = _tokens(a), _tokens(b)
    elif a.text and a.text == b.text:
        common = _cuts(a) & _cuts(b)
        sides = _between(a, common), _between(b, common)
    else:
        raise BadInput(
            "two models with different vocabularies can be compared only on the same text; these"
            " texts differ: give both the same text, or choose one model for both",
            code="no_pairing",
        )
    return Pairing(*sides, slots(*sides, words_too=same_vocabulary))


def slots(a: Sequence[Piece], b: Sequence[Piece], words_too: bool = True) -> tuple[Slot, ...]:
    """The common axis: equal runs are paired, and replaced runs if they have the same length.

    Without `words_too`, special tokens are still paired with other special tokens, but no word with
    another word.
    """
    axis: list[Slot] = []
    matcher = SequenceMatcher(None, [p.name for p in a], [p.name for p in b], autojunk=False)
    for _, start_a, stop_a, start_b, stop_b in matcher.get_opcodes():
        places_a, places_b = range(start_a, stop_a), range(start_b, stop_b)
        pairs = list(zip(places_a, places_b, strict=False))
        same = [a[i].name == b[j].name for i, j in pairs]
        fits = [
            equal or a[i].special == b[j].special and (words_too or a[i].special)
            for equal, (i, j) in zip(same, pairs, strict=True)
        ]
        if len(places_a) == len(places_b) and all(fits):
            axis += [Slot(i, j, equal) for equal, (i, j) in zip(same, pairs, strict=True)]
        else:
            axis += [Slot(i, None) for i in places_a]
            axis += [Slot(None, j) for j in places_b]
    return tuple(axis)


def difference(
    a: Float32[np.ndarray, "row_a column_a"],
    b: Float32[np.ndarray, "row_b column_b"],
    queries: Sequence[Slot],
    keys: Sequence[Slot],
) -> Float32[np.ndarray, "row column"]:
    """B − A on the common axes; NaN where a query or a key has no counterpart."""
    change: Float32[np.ndarray, "row column"]
    change = on_axes(b, queries, keys, "b") - on_axes(a, queries, keys, "a")
    return change


def moved(
    a: Float32[np.ndarray, "row_a column_a"],
    b: Float32[np.ndarray, "row_b column_b"],
    queries: Sequence[Slot],
    keys: Sequence[Slot],
) -> Float32[np.ndarray, "row"]:
    """The share of each row's attention that moved, ½ Σ |B − A|; NaN for a row of one side only.

    This is the total variation distance of the two rows. The weight of a key that one side only
    has counts as moved.
    """
    rows_a, rows_b = on_axes(a, queries, keys, "a"), on_axes(b, queries, keys, "b")
    apart = np.abs(np.nan_to_num(rows_b) - np.nan_to_num(rows_a)).sum(axis=1) / 2
    apart = np.where([slot.paired for slot in queries], apart, np.nan)
    return apart.astype(np.float32)


def moved_by_head(
    a: Float32[np.ndarray, "layer head row_a column_a"],
    b: Float32[np.ndarray, "layer head row_b column_b"],
    queries: Sequence[Slot],
    keys: Sequence[Slot],
) -> Float32[np.ndarray, "layer head row"]:
    """`moved`, for every head of every layer."""
    return np.array(
        [
            [moved(head_a, head_b, queries, keys) for head_a, head_b in zip(*layers, strict=True)]
            for layers in zip(a, b, strict=True)
        ],
        dtype=np.float32,
    )


def mean_moved(
    by_row: Float32[np.ndarray, "layer head row"],
) -> Float32[np.ndarray, "layer head"]:
    """The mean over each head's paired rows; 0 if no row is paired."""
    paired = ~np.isnan(by_row)
    total = np.where(paired, by_row, 0).sum(axis=-1) / np.maximum(paired.sum(axis=-1), 1)
    return np.asarray(total, dtype=np.float32)


def on_axes(
    weights: Float32[np.ndarray, "row_of column_of"],
    queries: Sequence[Slot],
    keys: Sequence[Slot],
    side: str,
) -> Float32[np.ndarray, "row column"]:
    """One side's weights on the common axes; NaN where this side has no such query or key."""
    rows, columns = (
        [-1 if getattr(slot, side) is None else getattr(slot, side) for slot in axis]
        for axis in (queries, keys)
    )
    framed = np.pad(weights, ((0, 1), (0, 1)), constant_values=np.nan)
    on_axes: Float32[np.ndarray, "row column"] = framed[np.ix_(rows, columns)]
    return on_axes


def _tokens(tokens: Tokens) -> tuple[Piece, ...]:
    """One part for each token."""
    entries = zip(tokens.labels, tokens.pieces, tokens.special.tolist(), strict=True)
    return tuple(
        Piece(place, place + 1, label, special, (label, piece, special))
        for place, (label, piece, special) in enumerate(entries)
    )


def _cuts(tokens: Tokens) -> set[int]:
    """The characters at which a token begins, and the end of the last; white space is skipped."""
    spans = [
        span for span, flag in zip(tokens.offsets, tokens.special, strict=True) if not flag.item()
    ]
    ends = {_next_sign(tokens.text, max((end for _, end in spans), default=0))}
    return ends | {_next_sign(tokens.text, start) for start, _ in spans}


def _next_sign(text: str, start: int) -> int:
    """The first character from `start` on that is not white space."""
    return len(text) - len(text[start:].lstrip())


def _between(tokens: Tokens, cuts: set[int]) -> tuple[Piece, ...]:
    """Tokens joined up to the next of these cuts; special tokens stand alone."""
    begins = [_next_sign(tokens.text, start) for start, _ in tokens.offsets]
    special = tokens.special.tolist()
    starts = [
        n
        for n, begin in enumerate(begins)
        if n == 0 or special[n] or special[n - 1] or (begin in cuts and begin != begins[n - 1])
    ]
    return tuple(
        _part(tokens, begins[start], start, stop)
        for start, stop in zip(starts, [*starts[1:], len(tokens)], strict=True)
    )


def _part(tokens: Tokens, begin: int, start: int, stop: int) -> Piece:
    if tokens.special[start]:
        return Piece(start, stop, tokens.labels[start], True, tokens.labels[start])
    end = len(tokens.text[: tokens.offsets[stop - 1][1]].rstrip())
    spelled = visible(tokens.text[begin:end])
    label = tokens.labels[start] if stop - start == 1 else spelled
    return Piece(start, stop, label, False, (begin, end))
