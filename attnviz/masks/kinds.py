"""Boolean attention masks: True = this query may attend to this key.

In: sizes, padding flags, or a mask in transformers' form. Out: boolean tensors [query, key].
Additive masks (0 or a very negative number, added to the scores) exist only at the boundary to
transformers; `from_model` converts them there, once. Masks: Vaswani et al. 2017, section 3.2.3
(causal); every padded batch (padding); Beltagy et al. 2020 (window); Raffel et al. 2020, section
3.2.1 (prefix); Zaheer et al. 2020 (block).
"""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor

from attnviz.errors import BadMask
from attnviz.masks.spec import RULES, MaskName, MaskRule, MaskSet, Stroke

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


def window(n_query: int, n_key: int, size: int) -> Bool[Tensor, "query key"]:
    """The window mask: query i may attend to keys less than `size` away, on either side."""
    return _positional("window", n_query, n_key, size)


def prefix(n_query: int, n_key: int, size: int) -> Bool[Tensor, "query key"]:
    """The prefix mask: causal, except for the first `size` keys, which every query may see."""
    return _positional("prefix", n_query, n_key, size)


def blocks(n_query: int, n_key: int, size: int) -> Bool[Tensor, "query key"]:
    """The block mask: a query may attend to the keys of its own block of `size` positions."""
    return _positional("block", n_query, n_key, size)


def _positional(name: MaskName, n_query: int, n_key: int, size: int) -> Bool[Tensor, "query key"]:
    return allowed(RULES[name], torch.arange(n_query)[:, None], torch.arange(n_key), size)


def allowed(rule: MaskRule, query: Tensor, key: Tensor, size: int) -> Bool[Tensor, "..."]:
    """True where a mask that positions decide lets a query attend to a key."""
    assert rule.allows is not None, f"{rule.name} depends on more than positions"
    mask: Tensor = rule.allows(query, key, size)
    return mask


def drawn(n_query: int, n_key: int, strokes: Sequence[Stroke]) -> Bool[Tensor, "query key"]:
    """The mask drawn by hand: each stroke blocks its cells, or opens them again."""
    masks, keep = MaskSet(("custom",), strokes=tuple(strokes)), torch.ones(n_key, dtype=torch.bool)
    return named(masks, n_query, keep)["custom"]


def named(
    masks: MaskSet, n_query: int, keep: Bool[Tensor, "key"]
) -> dict[str, Bool[Tensor, "query key"]]:
    """Every mask that is on, by its name; `keep` is True for the keys that are not padding."""
    query, key = torch.arange(n_query)[None], torch.arange(len(keep))[None]
    return {name: mask[0] for name, mask in at_positions(masks, query, key, keep[None]).items()}


def at_positions(
    masks: MaskSet,
    query: Int64[Tensor, "row query"],
    key: Int64[Tensor, "row key"],
    keep: Bool[Tensor, "row key"],
) -> dict[str, Bool[Tensor, "row query key"]]:
    """Every mask that is on, by its name, for queries and keys at these positions of each row."""
    asks, answers = query[:, :, None], key[:, None, :]
    shape = len(query), query.shape[1], key.shape[1]
    out: dict[str, Tensor] = {}
    for name in masks.on:
        if name == "padding":
            mask = keep[:, None, :]
        elif name == "custom":
            mask = torch.ones(shape, dtype=torch.bool, device=query.device)
            for stroke in masks.strokes:
                rows = (asks >= stroke.top) & (asks <= stroke.bottom)
                cells = rows & (answers >= stroke.left) & (answers <= stroke.right)
                mask = mask.masked_fill(cells, not stroke.blocks)
        else:
            mask = allowed(RULES[name], asks, answers, masks.sizes.get(name, 0))
        out[name] = mask.expand(shape)
    return out


def combine(*masks: Bool[Tensor, "_query _key"]) -> Bool[Tensor, "query key"]:
    """The mask that opens a cell only if every mask opens it."""
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
    """The masks that block each cell, as bits: bit i is set if the i-th mask blocks it.

    >>> blockers({"padding": padding(torch.tensor([True, False]), 2), "causal": causal(2)})
    tensor([[0, 3],
            [0, 1]], dtype=torch.uint8)
    """
    if not 0 < len(masks) <= MAX_NAMED_MASKS:
        raise BadMask(
            f"blockers() was given {len(masks)} masks; 1 to {MAX_NAMED_MASKS} fit in a byte",
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

    A boolean mask is returned unchanged. In an additive one, a number at or below half the type's
    lowest blocks (transformers fills with `finfo.min`; sums of two such stay below half); the rest,
    unless it is all zero, is a bias and is returned as float32.
    """
    if mask is None:
        return None, None
    if mask.dtype == torch.bool:
        return mask, None
    may_attend = mask > torch.finfo(mask.dtype).min / 2
    rest = mask.to(torch.float32).masked_fill(~may_attend, 0.0)
    return may_attend, rest if bool(rest.any()) else None
