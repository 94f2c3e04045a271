"""The named masks that the mask of a model consists of.

In: the mask of one attention call on each sentence of a batch. Out: the simplest `MaskSet` that
blocks the same cells in every row that is not padding, or None. Sizes are read from the mask and
checked by building it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor

from attnviz.masks.kinds import named
from attnviz.masks.spec import MaskName, MaskSet

# the likeliest first: padding is named even if no sentence of the batch is padded
PLAIN: tuple[tuple[MaskName, ...], ...] = (("padding",), ("padding", "causal"), (), ("causal",))
SIZED: tuple[tuple[MaskName, ...], ...] = (
    ("padding", "causal", "window"),
    ("padding", "window"),
    ("padding", "prefix"),
    ("padding", "causal", "block"),
    ("padding", "block"),
)


@dataclass(frozen=True, eq=False)
class ObservedMask:
    """The mask that one sentence ran with; `real_…` are True for what is not padding."""

    may_attend: Bool[Tensor, "query key"]
    real_queries: Bool[Tensor, "query"]
    real_keys: Bool[Tensor, "key"]


def named_masks(observed: Sequence[ObservedMask], cross: bool = False) -> MaskSet | None:
    """The masks that every sentence ran with; in cross-attention no mask depends on positions."""
    for masks in _candidates(observed, cross):
        if all(_fits(masks, mask) for mask in observed):
            return masks
    return None


def _candidates(observed: Sequence[ObservedMask], cross: bool) -> Iterator[MaskSet]:
    for on in PLAIN:
        if not (cross and "causal" in on):
            yield MaskSet(on)
    if cross:
        return
    for on in SIZED:
        for size in sorted({_size(on, mask) for mask in observed}, reverse=True):
            if size > 0:
                yield MaskSet(on, {on[-1]: size})


def _fits(masks: MaskSet, observed: ObservedMask) -> bool:
    """True if the masks block the same cells for every query that is not padding."""
    built = torch.ones_like(observed.may_attend)
    for mask in named(masks, len(built), observed.real_keys).values():
        built &= mask
    rows = observed.real_queries
    return torch.equal(built[rows], observed.may_attend[rows])


def _size(on: tuple[MaskName, ...], observed: ObservedMask) -> int:
    """The size that the last of these masks must have; 0 if the mask cannot contain it."""
    real = observed.real_queries[:, None] & observed.real_keys
    queries, keys = torch.nonzero(observed.may_attend & real, as_tuple=True)
    if not len(queries):
        return 0
    match on[-1]:
        case "window":
            return int((queries - keys).abs().max()) + 1
        case "prefix":
            ahead = keys[keys > queries]
            return int(ahead.max()) + 1 if len(ahead) else 0
        case _:  # a block ends at a token that may not attend to the one before it
            n = min(observed.may_attend.shape)
            before = observed.may_attend[torch.arange(1, n), torch.arange(n - 1)]
            ends = torch.nonzero(~before)
            return int(ends[0]) + 1 if len(ends) else 0
