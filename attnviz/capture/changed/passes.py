"""The texts of one pass of a model: their padding, and how many tokens its key cache has.

In: the keyword arguments of the pass. Out: a `ForwardPass`, and the spans of queries and
keys in it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from attnviz.attention.stage_changes import Span
from attnviz.errors import UnsupportedAttention


@dataclass(frozen=True)
class TextPadding:
    """The padding of one text of a pass: `span` of a mask that is `width` wide."""

    span: Span = Span()
    width: int = 0

    def at(self, first: int, n: int) -> Span:
        """The span of n tokens from `first` on; without padding where the mask is not theirs."""
        return replace(self.span if first + n == self.width else Span(), first=first)


@dataclass(frozen=True)
class ForwardPass:
    """The texts of a pass, and how many tokens its key cache has from before."""

    text: TextPadding = TextPadding()
    written: TextPadding = TextPadding()
    n_before: int = 0
    has_cache: bool = False


def first_key(now: ForwardPass, n_query: int, n_key: int) -> int:
    """The position of the first key in self-attention."""
    if not now.has_cache:
        return 0
    dropped = now.n_before + n_query - n_key
    if dropped < 0:
        raise UnsupportedAttention(
            "the key cache has more slots than tokens, as a static key cache does: a slot is not a"
            " position; generate with the default dynamic cache",
            code="static_cache",
        )
    return dropped


def pass_of(kwargs: Mapping[str, Any]) -> ForwardPass:
    cache = kwargs.get("past_key_values")
    length = getattr(cache, "get_seq_length", None)
    return ForwardPass(
        text=_text(kwargs.get("attention_mask")),
        written=_text(kwargs.get("decoder_attention_mask")),
        n_before=0 if length is None else int(length()),
        has_cache=length is not None,
    )


def _text(mask: object) -> TextPadding:
    """Where each row's real tokens begin, and how many there are."""
    if not isinstance(mask, Tensor) or mask.dim() != 2:
        return TextPadding()
    real = mask.bool()
    if bool(real.all()):
        return TextPadding(Span(), mask.shape[1])
    starts = tuple(real.to(torch.uint8).argmax(-1).tolist())
    lengths = tuple(real.sum(-1).tolist())
    return TextPadding(Span(0, starts if any(starts) else None, lengths), mask.shape[1])
