"""One mask, four conventions: Python that builds the same mask for each of PyTorch's interfaces.

In: which masks make up a mask. Out: source text, ready to be copied; nothing is computed here, and
a test runs every line. True means opposite things in the interfaces:

    torch.nn.MultiheadAttention            boolean, True = may NOT attend
    scaled_dot_product_attention           boolean, True = may attend (as everywhere in attnviz)
    transformers                           1 = real token, 0 = padding; models add the causal part
    additive, understood by all            0 = may attend, −∞ = may not
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

Convention = Literal["sdpa", "multihead", "transformers", "additive"]
CONVENTIONS: tuple[Convention, ...] = get_args(Convention)

BUILT = {
    "sdpa": "mask = may_attend",
    "multihead": "mask = ~may_attend",
    "additive": 'mask = torch.zeros(n_query, n_key).masked_fill(~may_attend, float("-inf"))',
}
USED = {
    "sdpa": "# True = may attend: scaled_dot_product_attention(q, k, v, attn_mask=mask)",
    "multihead": "# True = may NOT attend: nn.MultiheadAttention(...)(x, x, x, attn_mask=mask)",
    "additive": "# added to the scores before softmax: any attn_mask= takes it",
    "transformers": "# 1 = real token: model(input_ids, attention_mask=mask)",
    "decoder": "# a decoder adds the causal part itself",
    "cells": "# cell by cell: some models take a boolean mask [batch, head, query, key]",
}


@dataclass(frozen=True)
class MaskParts:
    """What a mask is made of: real keys (None without padding), causal, or every cell as it is.

    `window`, `prefix` and `block` are sizes, as in `masks.spec`; None for a mask that is off.
    """

    n_query: int
    n_key: int
    real: tuple[bool, ...] | None = None
    causal: bool = False
    cells: tuple[tuple[bool, ...], ...] | None = None
    window: int | None = None
    prefix: int | None = None
    block: int | None = None

    @property
    def placed(self) -> bool:
        """Whether a mask is among them that transformers has no argument for."""
        return any(size is not None for size in (self.window, self.prefix, self.block))


def code(parts: MaskParts, convention: Convention) -> str:
    """Source that defines `mask` in a convention.

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
    lines = ["import torch", "", *_may_attend(parts), BUILT[convention], USED[convention]]
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
    return [*lines, *_placed(parts)]


def _placed(parts: MaskParts) -> list[str]:
    """The masks that depend on where query and key stand."""
    if not parts.placed:
        return []
    lines = ["query, key = torch.arange(n_query)[:, None], torch.arange(n_key)"]
    if parts.window is not None:
        lines.append(f"may_attend &= (query - key).abs() < {parts.window}  # window")
    if parts.prefix is not None:
        lines.append(f"may_attend &= (key <= query) | (key < {parts.prefix})  # prefix")
    if parts.block is not None:
        lines.append(f"may_attend &= query // {parts.block} == key // {parts.block}  # block")
    return lines


def _for_transformers(parts: MaskParts) -> list[str]:
    if parts.cells is not None or parts.placed:
        return [*_may_attend(parts), "mask = may_attend[None, None]", USED["cells"]]
    real = parts.real or (True,) * parts.n_key
    lines = [f"mask = torch.tensor([{_digits(real)}])", USED["transformers"]]
    return [*lines, USED["decoder"]] if parts.causal else lines


def _digits(row: Sequence[bool]) -> str:
    return "[" + ", ".join("1" if cell else "0" for cell in row) + "]"
