"""Boolean attention masks (True = this query may attend to this key) and who blocks which cell.

In: sizes, padding flags, or a mask in transformers' form. Out: boolean tensors [query, key].
Additive masks (0 and a very negative number, added to the scores) exist only at the border to
transformers; `from_model` turns them into booleans there, once. Masks: Vaswani et al. 2017,
section 3.2.3 (causal); every padded batch (padding).
"""

from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float, UInt8
from torch import Tensor

from attnviz.errors import BadMask

MAX_NAMED_MASKS = 8


def causal(
    n_query: int,
    n_key: int | None = None,
    rows: slice = slice(None),
    columns: slice = slice(None),
) -> Bool[Tensor, "row column"]:
    """The causal mask: query i may attend to keys 0 … i (aligned at the upper left).

    `rows` picks some of the queries, `columns` some of the keys.
    """
    return torch.arange(n_key or n_query)[columns] <= torch.arange(n_query)[rows, None]


def padding(keep: Bool[Tensor, "key"], n_query: int) -> Bool[Tensor, "query key"]:
    """The padding mask: every query may attend to the keys that `keep` marks True."""
    return keep[None, :].expand(n_query, -1)


def combine(*masks: Bool[Tensor, "_query _key"]) -> Bool[Tensor, "query key"]:
    """A cell is open only where every mask leaves it open."""
    if not masks:
        raise BadMask("combine() was given no mask; give it at least one", code="no_mask")
    shapes = {tuple(mask.shape) for mask in masks}
    if len(shapes) != 1:
        raise BadMask(
            f"masks to combine must have one shape [query, key], found {sorted(shapes)}",
            code="mask_shape",
            found=str(sorted(shapes)),
        )
    return torch.stack(masks).all(dim=0)


def blockers(masks: Mapping[str, Bool[Tensor, "query key"]]) -> UInt8[Tensor, "query key"]:
    """Which masks block each cell, as bits: bit i is set where the i-th mask blocks it.

    >>> blockers({"padding": padding(torch.tensor([True, False]), 2), "causal": causal(2)})
    tensor([[0, 3],
            [0, 1]], dtype=torch.uint8)
    """
    if not 0 < len(masks) <= MAX_NAMED_MASKS:
        raise BadMask(
            f"asked who blocks what among {len(masks)} masks; 1 to {MAX_NAMED_MASKS} fit in a byte",
            code="mask_count",
            found=len(masks),
        )
    combine(*masks.values())  # raises when shapes differ
    layers = [(~mask).to(torch.uint8) << bit for bit, mask in enumerate(masks.values())]
    return torch.stack(layers).sum(dim=0, dtype=torch.uint8)


def from_model(
    mask: Tensor | None,
) -> tuple[
    Bool[Tensor, "#batch #head #query #key"] | None,
    Float[Tensor, "#batch #head #query #key"] | None,
]:
    """(may attend, additive rest) of the mask that transformers hands to an attention function.

    A boolean mask is taken as it is. In an additive one, anything at or below half the type's
    lowest number blocks (transformers fills with `finfo.min`; sums of two such stay below half);
    what remains, if it is not all zero, is a bias and is returned as float32.
    """
    if mask is None:
        return None, None
    if mask.dtype == torch.bool:
        return mask, None
    may_attend = mask > torch.finfo(mask.dtype).min / 2
    rest = mask.to(torch.float32).masked_fill(~may_attend, 0.0)
    return may_attend, rest if bool(rest.any()) else None
