"""Which tokens of one capture stand for which of another, and what then differs between heads.

In: the `Tokens` of two sides, A and B, and weights of either. Out: a `Pairing`, the parts of both
sides and the `Slot`s of one axis that holds both; differences B − A on it; and how much attention
moved. A slot with both sides has a number, one that only a side has shows that nothing stands for
it. Where two tokenizers cut one text differently, pieces are joined up to the nearest boundary that
both have, and mass is conserved: summed over the keys of a part, averaged over its queries.
Source: the longest matching runs of `difflib` (Ratcliff and Metzener 1988); total variation
distance as in Levin and Peres 2017, section 4.1.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from jaxtyping import Float32

from attnviz.errors import BadInput
from attnviz.tokens.labels import visible
from attnviz.types import Tokens


@dataclass(frozen=True)
class Part:
    """The tokens from `start` to before `stop` of one side, looked at as one.

    Parts of two sides are equal where their `name`s are.
    """

    start: int
    stop: int
    label: str
    special: bool
    name: Hashable


@dataclass(frozen=True)
class Slot:
    """One place of the common axis: a part of A, one of B, or both; `same` where they are equal."""

    a: int | None
    b: int | None
    same: bool = False

    @property
    def paired(self) -> bool:
        """Whether both sides have something here."""
        return self.a is not None and self.b is not None


@dataclass(frozen=True)
class Pairing:
    """The parts of both sides, in order, and the axis on which they are compared."""

    a: tuple[Part, ...]
    b: tuple[Part, ...]
    slots: tuple[Slot, ...]

    @property
    def merged(self) -> bool:
        """Whether some part has several tokens."""
        return any(part.stop - part.start > 1 for part in (*self.a, *self.b))


def pair(a: Tokens, b: Tokens, same_vocabulary: bool) -> Pairing:
    """What of A stands for what of B.

    With one vocabulary tokens are compared as they are. With two, the text must be the same: parts
    are then the pieces between boundaries that both tokenizers set.
    """
    if same_vocabulary:
        sides = _tokens(a), _tokens(b)
    elif a.text and a.text == b.text:
        common = _cuts(a) & _cuts(b)
        sides = _between(a, common), _between(b, common)
    else:
        raise BadInput(
            "two models with different vocabularies can be compared on one text only, and these"
            " are two; give both the same text, or choose one model for both",
            code="no_pairing",
        )
    return Pairing(*sides, slots(*sides, words_too=same_vocabulary))


def slots(a: Sequence[Part], b: Sequence[Part], words_too: bool = True) -> tuple[Slot, ...]:
    """The common axis: equal runs side by side, replaced runs too where they are equally long.

    Without `words_too` a special token may still stand for another one, a word for no other word.
    """
    found: list[Slot] = []
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
            found += [Slot(i, j, equal) for equal, (i, j) in zip(same, pairs, strict=True)]
        else:
            found += [Slot(i, None) for i in places_a]
            found += [Slot(None, j) for j in places_b]
    return tuple(found)


def difference(
    a: Float32[np.ndarray, "row_a column_a"],
    b: Float32[np.ndarray, "row_b column_b"],
    queries: Sequence[Slot],
    keys: Sequence[Slot],
) -> Float32[np.ndarray, "row column"]:
    """B − A on the common axes; NaN where a query or a key has no counterpart."""
    found: Float32[np.ndarray, "row column"]
    found = _on_axes(b, queries, keys, "b") - _on_axes(a, queries, keys, "a")
    return found


def moved(
    a: Float32[np.ndarray, "row_a column_a"],
    b: Float32[np.ndarray, "row_b column_b"],
    queries: Sequence[Slot],
    keys: Sequence[Slot],
) -> Float32[np.ndarray, "row"]:
    """The share of each row's attention that moved, ½ Σ |B − A|; NaN for a row of one side only.

    This is the total variation distance of the two rows. What falls on a key of one side only is
    compared with nothing: all of it moved.
    """
    rows_a, rows_b = _on_axes(a, queries, keys, "a"), _on_axes(b, queries, keys, "b")
    apart = np.abs(np.nan_to_num(rows_b) - np.nan_to_num(rows_a)).sum(axis=1) / 2
    apart = np.where([slot.paired for slot in queries], apart, np.nan)
    return apart.astype(np.float32)


def moved_by_head(
    a: Float32[np.ndarray, "layer head row_a column_a"],
    b: Float32[np.ndarray, "layer head row_b column_b"],
    queries: Sequence[Slot],
    keys: Sequence[Slot],
) -> Float32[np.ndarray, "layer head row"]:
    """`moved` of every head."""
    return np.array(
        [
            [moved(one, other, queries, keys) for one, other in zip(of_a, of_b, strict=True)]
            for of_a, of_b in zip(a, b, strict=True)
        ],
        dtype=np.float32,
    )


def mean_moved(
    by_row: Float32[np.ndarray, "layer head row"],
) -> Float32[np.ndarray, "layer head"]:
    """The mean over each head's paired rows; 0 where no row is paired."""
    paired = ~np.isnan(by_row)
    total = np.where(paired, by_row, 0).sum(axis=-1) / np.maximum(paired.sum(axis=-1), 1)
    return np.asarray(total, dtype=np.float32)


def _on_axes(
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
    found: Float32[np.ndarray, "row column"] = framed[np.ix_(rows, columns)]
    return found


def _tokens(tokens: Tokens) -> tuple[Part, ...]:
    """Every token by itself."""
    entries = zip(tokens.labels, tokens.pieces, tokens.special.tolist(), strict=True)
    return tuple(
        Part(at, at + 1, label, special, (label, piece, special))
        for at, (label, piece, special) in enumerate(entries)
    )


def _cuts(tokens: Tokens) -> set[int]:
    """The characters at which a token begins, and where the last one ends; white space aside."""
    spans = [
        span for span, flag in zip(tokens.offsets, tokens.special, strict=True) if not flag.item()
    ]
    ends = {_next_sign(tokens.text, max((end for _, end in spans), default=0))}
    return ends | {_next_sign(tokens.text, start) for start, _ in spans}


def _next_sign(text: str, at: int) -> int:
    """The first character from `at` on that is no white space."""
    return len(text) - len(text[at:].lstrip())


def _between(tokens: Tokens, cuts: set[int]) -> tuple[Part, ...]:
    """Tokens joined up to the next of these cuts; special ones stand alone."""
    begins = [_next_sign(tokens.text, start) for start, _ in tokens.offsets]
    special = tokens.special.tolist()
    starts = [
        at
        for at, begin in enumerate(begins)
        if at == 0 or special[at] or special[at - 1] or (begin in cuts and begin != begins[at - 1])
    ]
    return tuple(
        _part(tokens, begins[start], start, stop)
        for start, stop in zip(starts, [*starts[1:], len(tokens)], strict=True)
    )


def _part(tokens: Tokens, begin: int, start: int, stop: int) -> Part:
    if tokens.special[start]:
        return Part(start, stop, tokens.labels[start], True, tokens.labels[start])
    end = len(tokens.text[: tokens.offsets[stop - 1][1]].rstrip())
    spelled = visible(tokens.text[begin:end])
    label = tokens.labels[start] if stop - start == 1 else spelled
    return Part(start, stop, label, False, (begin, end))
