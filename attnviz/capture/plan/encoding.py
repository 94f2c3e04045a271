"""Texts as rows of tokens of one length: tokenised, cut, padded and labelled.

In: a model and texts. Out: input tensors, and the `Tokens` of each row. Padding is done here and
not by the tokenizer, which would need a padding token and keep the setting for its next caller.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor
from transformers import BatchEncoding

from attnviz.errors import TooLarge
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import Tokens

NOWHERE = (0, 0)  # the characters of a token that stands for none


@dataclass(frozen=True)
class TokenRow:
    """One text as lists, as tokenizers give them; `special` has a 1 for each special token."""

    text: str
    ids: list[int]
    offsets: list[tuple[int, int]]
    special: list[int]


def encode(
    lm: LoadedModel,
    texts: Sequence[str],
    pairs: Sequence[str] = (),
    *,
    room: int | None = None,
    side: str = "right",
    is_message: bool = False,
) -> tuple[dict[str, Tensor], tuple[Tokens, ...]]:
    """The inputs and the tokens of texts, padded at one `side` to the longest.

    Each row is cut to `room` tokens if that is given. A message has its special tokens already.
    Raises `TooLarge` for a row that is longer than the model takes.
    """
    encoded = lm.tokenize(
        list(texts),
        list(pairs) or None,
        add_special_tokens=not is_message,
        truncation=room is not None,
        max_length=None if room is None else max(1, room),
        verbose=False,
    )
    rows = token_rows(lm, encoded, texts, pairs, lm.special_ids if is_message else frozenset())
    longest = max(len(row.ids) for row in rows)
    require_length(lm, longest)
    inputs = {
        name: torch.tensor(padded(values, longest, _padding_of(lm, name), side))
        for name, values in encoded.items()
        if name in lm.text_tokenizer().model_input_names
    }
    to_device = {name: tensor.to(lm.key.device) for name, tensor in inputs.items()}
    return to_device, tuple(_padded_tokens(lm, row, longest, side) for row in rows)


def token_rows(
    lm: LoadedModel,
    encoded: BatchEncoding,
    texts: Sequence[str],
    pairs: Sequence[str] = (),
    control: frozenset[int] = frozenset(),
) -> list[TokenRow]:
    """The rows of a tokenised batch, with the characters that each token stands for.

    Special are the tokens that the tokenizer added, and those of `control`. A tokenizer written in
    Python keeps no characters.
    """
    if encoded.encodings is None:
        special = lm.special_ids
        return [
            TokenRow("", ids, [NOWHERE] * len(ids), [int(token in special) for token in ids])
            for ids in encoded["input_ids"]
        ]
    return [
        TokenRow(
            text=f"{text}\n{pair}" if pairs else text,
            ids=row.ids,
            offsets=_offsets(row.offsets, row.sequence_ids, second_starts=len(text) + 1),
            special=[
                int(added or token in control)
                for added, token in zip(row.special_tokens_mask, row.ids, strict=True)
            ],
        )
        for text, pair, row in zip(
            texts, pairs or [""] * len(texts), encoded.encodings, strict=True
        )
    ]


def padded(rows: Sequence[list[int]], length: int, filling: int, side: str) -> list[list[int]]:
    """The rows with `filling` at one side, so that each has `length` entries."""
    fillings = [[filling] * (length - len(row)) for row in rows]
    return [
        fill + row if side == "left" else row + fill
        for row, fill in zip(rows, fillings, strict=True)
    ]


def padding_id(lm: LoadedModel) -> int:
    """The token that stands in padding; the end token, or 0, for a tokenizer without one."""
    tokenizer = lm.text_tokenizer()
    known = (tokenizer.pad_token_id, tokenizer.eos_token_id)
    return next((token for token in known if isinstance(token, int)), 0)


def _padding_of(lm: LoadedModel, name: str) -> int:
    """The padding of one of the model's inputs; 0 in an attention mask."""
    if name == "input_ids":
        return padding_id(lm)
    return lm.text_tokenizer().pad_token_type_id if name == "token_type_ids" else 0


def _padded_tokens(lm: LoadedModel, row: TokenRow, length: int, side: str) -> Tokens:
    n_token = len(row.ids)
    n_fill = length - n_token

    def with_padding(values: list, filling: object) -> list:  # type: ignore[type-arg]
        return [filling] * n_fill + values if side == "left" else values + [filling] * n_fill

    return lm.tokens(
        text=row.text,
        ids=with_padding(row.ids, padding_id(lm) if n_fill else 0),
        offsets=with_padding(row.offsets, NOWHERE),
        special=with_padding(row.special, 1),
        attended=with_padding([1] * n_token, 0),
    )


def id_tokens(
    lm: LoadedModel, ids: Int[Tensor, "batch token"], attended: Tensor | None = None
) -> tuple[Tokens, ...]:
    """The tokens of each row of ids, whose pieces are their labels; padding is not `attended`."""
    rows = ids.tolist()
    kept = [[1] * len(row) for row in rows] if attended is None else attended.tolist()
    return tuple(
        lm.tokens(text="", ids=row, offsets=[NOWHERE] * len(row), special=None, attended=keep)
        for row, keep in zip(rows, kept, strict=True)
    )


def require_length(lm: LoadedModel, length: int, limit: int | None = None) -> None:
    """Raise `TooLarge` for more tokens than the model, or its decoder, takes."""
    most = lm.max_tokens if limit is None else limit
    if length > most:
        raise TooLarge(
            f"the text has {length} tokens and {lm.name} takes at most {most};"
            " shorten it, or pass cut=True to keep its beginning",
            code="too_many_tokens",
            found=length,
            limit=most,
            unit="tokens",
        )


def _offsets(
    offsets: list[tuple[int, int]], sentence_of: list[int | None], second_starts: int
) -> list[tuple[int, int]]:
    """Character offsets of each token; those of the second sentence count from its start."""
    return [
        (start + second_starts, end + second_starts) if sentence == 1 else (start, end)
        for (start, end), sentence in zip(offsets, sentence_of, strict=True)
    ]
