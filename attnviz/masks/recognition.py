"""Which named masks make up the mask that a model ran with, if any do.

In: the mask of one attention call on each sentence of a batch. Out: a `MaskSet` that blocks the
same cells in every row that is no padding, the simplest there is; None where none does. Sizes are
read off the mask, then proven by building it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor

from attnviz.masks.kinds import named
from attnviz.masks.spec import MaskName, MaskSet

# the likeliest reading first: padding is meant where a sentence has none
PLAIN: tuple[tuple[MaskName, ...], ...] = (("padding",), ("padding", "causal"), (), ("causal",))
SIZED: tuple[tuple[MaskName, ...], ...] = (
    ("padding", "causal", "window"),
    ("padding", "window"),
    ("padding", "prefix"),
    ("padding", "causal", "block"),
    ("padding", "block"),
)


@dataclass(frozen=True, eq=False)
class Ran:
    """The mask of one sentence: what may be attended, and which queries and keys are tokens."""

    may_attend: Bool[Tensor, "query key"]
    real_queries: Bool[Tensor, "query"]
    real_keys: Bool[Tensor, "key"]


def named_masks(ran: Sequence[Ran], cross: bool = False) -> MaskSet | None:
    """The named masks that every sentence ran with; with `cross`, order means nothing."""
    for masks in _candidates(ran, cross):
        if all(_fits(masks, of) for of in ran):
            return masks
    return None


def _candidates(ran: Sequence[Ran], cross: bool) -> Iterator[MaskSet]:
    for on in PLAIN:
        if not (cross and "causal" in on):
            yield MaskSet(on)
    if cross:
        return
    for on in SIZED:
        for size in sorted({_size(on, of) for of in ran}, reverse=True):
            if size > 0:
                yield MaskSet(on, {on[-1]: size})


def _fits(masks: MaskSet, ran: Ran) -> bool:
    made = torch.ones_like(ran.may_attend)
    for layer in named(masks, len(made), ran.real_keys).values():
        made &= layer
    return torch.equal(made[ran.real_queries], ran.may_attend[ran.real_queries])


def _size(on: tuple[MaskName, ...], ran: Ran) -> int:
    """How large the last of these masks would have to be; 0 where the mask has no sign of it."""
    queries, keys = torch.nonzero(
        ran.may_attend & ran.real_queries[:, None] & ran.real_keys, as_tuple=True
    )
    if not len(queries):
        return 0
    match on[-1]:
        case "window":
            return int((queries - keys).abs().max()) + 1
        case "prefix":
            ahead = keys[keys > queries]
            return int(ahead.max()) + 1 if len(ahead) else 0
        case _:  # a block ends where a token may no longer attend to the one before it
            n = min(ran.may_attend.shape)
            before = ran.may_attend[torch.arange(1, n), torch.arange(n - 1)]
            ends = torch.nonzero(~before)
            return int(ends[0]) + 1 if len(ends) else 0
