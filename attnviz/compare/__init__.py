"""Two captures side by side: corresponding tokens, and the differences between their heads.

    axis = compare.pair(a.tokens, b.tokens, same_vocabulary=True).slots
    change = compare.difference(a.weights("L5.H11"), b.weights("L5.H11"), axis, axis)

In: the tokens and weights of both. Out: plain numpy. Nothing here runs a model.
"""

from attnviz.compare.token_pairs import (
    Pairing,
    Piece,
    Slot,
    difference,
    mean_moved,
    moved,
    moved_by_head,
    pair,
)

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
