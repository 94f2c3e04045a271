"""Python code that builds one mask for each of PyTorch's interfaces.

In: the masks that a mask is made of. Out: source text, ready to be copied; nothing is computed
here, and a test runs every line. True has opposite meanings in the interfaces:

    torch.nn.MultiheadAttention            boolean, True = may NOT attend
    scaled_dot_product_attention           boolean, True = may attend (as everywhere in attnviz)
    transformers                           1 = real token, 0 = padding; models add the causal part
    additive, accepted by all              0 = may attend, −∞ = may not
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from attnviz.masks.spec import RULES, MaskName

Convention = Literal["sdpa", "multihead", "transformers", "additive"]
CONVENTIONS: tuple[Convention, ...] = get_args(Convention)

DEFINITIONS = {
    "sdpa": "mask = may_attend",
    "multihead": "mask = ~may_attend",
    "additive": 'mask = torch.zeros(n_query, n_key).masked_fill(~may_attend, float("-inf"))',
}
COMMENTS = {
    "sdpa": "# True = may attend: scaled_dot_product_attention(q, k, v, attn_mask=mask)",
    "multihead": "# True = may NOT attend: nn.MultiheadAttention(...)(x, x, x, attn_mask=mask)",
    "additive": "# added to the scores before softmax: any attn_mask= takes it",
    "transformers": "# 1 = real token: model(input_ids, attention_mask=mask)",
    "decoder": "# a decoder adds the causal part itself",
    "cells": "# cell by cell: some models take a boolean mask [batch, head, query, key]",
}


@dataclass(frozen=True)
class MaskParts:
    """The masks that one mask is made of.

    `real` is True for keys that are not padding, None without padding; `cells` has every cell of a
    mask that has no other name. `sizes` has those of the masks with a size that are on.
    """

    n_query: int
    n_key: int
    real: tuple[bool, ...] | None = None
    causal: bool = False
    cells: tuple[tuple[bool, ...], ...] | None = None
    sizes: Mapping[MaskName, int] = field(default_factory=dict)


def code(parts: MaskParts, convention: Convention) -> str:
    """Source code that defines `mask` in a convention.

    >>> print(code(MaskParts(2, 2, causal=True), "multihead"))
    import torch
    <BLANKLINE>
    n_query, n_key = 2, 2
    may_attend = torch.ones(n_query, n_key, dtype=torch.bool)
    may_attend &= torch.ones(n_query, n_key).tril().bool()  # causal
    mask = ~may_attend
    # True = may NOT attend: nn.MultiheadAttention(...)(x, x, x, attn_mask=mask)
    """
    if convention == "transformers":
        return "\n".join(["import torch", "", *_for_transformers(parts)])
    lines = ["import torch", "", *_may_attend(parts), DEFINITIONS[convention], COMMENTS[convention]]
    return "\n".join(lines)


def _may_attend(parts: MaskParts) -> list[str]:
    lines = [
        f"n_query, n_key = {parts.n_query}, {parts.n_key}",
        "may_attend = torch.ones(n_query, n_key, dtype=torch.bool)",
    ]
    if parts.cells is not None:
        rows = ",\n    ".join(_digits(row) for row in parts.cells)
        lines.append(f"may_attend &= torch.tensor([\n    {rows},\n]).bool()")
    if parts.real is not None:
        lines.append(f"may_attend &= torch.tensor({_digits(parts.real)}).bool()  # padding")
    if parts.causal:
        lines.append("may_attend &= torch.ones(n_query, n_key).tril().bool()  # causal")
    return [*lines, *_sized_lines(parts)]


def _sized_lines(parts: MaskParts) -> list[str]:
    """The lines of the masks that depend on the positions of query and key."""
    if not parts.sizes:
        return []
    lines = ["query, key = torch.arange(n_query)[:, None], torch.arange(n_key)"]
    return lines + [
        f"may_attend &= {RULES[name].sized_code.format(size=size)}  # {name}"
        for name, size in parts.sizes.items()
    ]


def _for_transformers(parts: MaskParts) -> list[str]:
    if parts.cells is not None or parts.sizes:
        return [*_may_attend(parts), "mask = may_attend[None, None]", COMMENTS["cells"]]
    real = parts.real or (True,) * parts.n_key
    lines = [f"mask = torch.tensor([{_digits(real)}])", COMMENTS["transformers"]]
    return [*lines, COMMENTS["decoder"]] if parts.causal else lines


def _digits(row: Sequence[bool]) -> str:
    return "[" + ", ".join("1" if cell else "0" for cell in row) + "]"
