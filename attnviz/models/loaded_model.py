"""A model in memory, ready to be captured: the one resource that sessions share.

In: a model with its tokenizer or processor. Out: limits, tokens and labels, and two locks. Hooks
and the attention implementation are global to a model object, and a fast tokenizer keeps padding
and truncation as state, while web sessions are threads: `lock` is held by whoever runs the model,
and every text goes through `tokenize`, which holds the other one.
"""

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import TypedDict, Unpack

import numpy as np
from torch import nn
from transformers import BatchEncoding, PreTrainedTokenizerBase

from attnviz.errors import BadInput
from attnviz.models import architecture
from attnviz.models.files import first_line, is_panic
from attnviz.models.seeded_models import ExampleInputs
from attnviz.tokens.labels import from_bytes, label
from attnviz.types import ModelCard, ModelKey, ModelKind, Tokens

# the longest text for models without a limit of their own
MAX_TOKENS = 16_384
# the signs that byte-pair and SentencePiece vocabularies write for the space before a word
WORD_STARTS = ("Ġ", "▁")
SPACE = "␣"
# of transformers: an image processor, a feature extractor, or what holds one beside a tokenizer
Processor = Callable[..., Mapping[str, object]]


class TokenizerOptions(TypedDict, total=False):
    """The options of transformers' tokenizers that are used here."""

    text_target: Sequence[str]
    add_special_tokens: bool
    padding: bool
    truncation: bool
    max_length: int | None
    return_offsets_mapping: bool
    return_special_tokens_mask: bool
    return_attention_mask: bool
    return_tensors: str
    verbose: bool


@dataclass(eq=False)
class LoadedModel:
    """A model with its tokenizer, its processor and its locks.

    `processor` turns pictures or sound into inputs. `notice` says if the model is not quite the one
    that was asked for. `example` has the inputs of a model that reads neither text nor pictures.
    `rehearse` is called with the arguments of each call of the tokenizer before that call.
    """

    card: ModelCard
    key: ModelKey
    model: nn.Module
    tokenizer: PreTrainedTokenizerBase | None = None
    processor: Processor | None = None
    notice: str | None = None
    example: ExampleInputs | None = None
    rehearse: Callable[..., None] | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)
    tokenizer_lock: threading.Lock = field(default_factory=threading.Lock)

    def __repr__(self) -> str:
        size = f"{self.n_layers} layers × {self.n_heads} heads, " if self.n_layers else ""
        return f"LoadedModel({self.key}, {self.kind}, {size}{self.card.parameters:,} parameters)"

    @property
    def name(self) -> str:
        """The name on the card."""
        return self.card.name

    @property
    def kind(self) -> ModelKind:
        """The kind of model on the card."""
        return self.card.kind

    @property
    def n_layers(self) -> int:
        """The number of layers on the card; 0 if it is known only after a capture."""
        return self.card.layers

    @property
    def n_heads(self) -> int:
        """The number of heads of a layer; 0 if it is known only after a capture."""
        return self.card.heads

    @property
    def max_tokens(self) -> int:
        """The largest number of tokens in a text, the special ones included."""
        limits = [MAX_TOKENS]
        if self.tokenizer is not None:
            limits.append(int(self.tokenizer.model_max_length))
        if self._n_positions is not None:
            limits.append(self._n_positions)
        return min(limits)

    @cached_property
    def _n_positions(self) -> int | None:
        return architecture.n_positions(self.model)

    @property
    def special_ids(self) -> frozenset[int]:
        """The entries of the vocabulary that stand for no text.

        Those that the tokenizer names, and those that were added as control tokens, such as the
        separators of messages.
        """
        return _special_ids(self.tokenizer)

    def text_tokenizer(self) -> PreTrainedTokenizerBase:
        """The tokenizer; raises `BadInput` for a model without one."""
        if self.tokenizer is None:
            raise BadInput(
                f"{self.name} is a {self.kind} model without a tokenizer, so it takes no text: give"
                " image=, sound= or inputs=, or load it with tokenizer=",
                code="no_tokenizer",
                name=self.name,
                kind=self.kind,
            )
        return self.tokenizer

    def tokenize(
        self,
        text: str | list[str] | None = None,
        text_pair: list[str] | None = None,
        /,
        **options: Unpack[TokenizerOptions],
    ) -> BatchEncoding:
        """The result of the tokenizer, called by one thread at a time.

        A fast tokenizer keeps `padding` and
        `truncation` as state, so that a call in another thread could change those of this one.
        """
        tokenizer = self.text_tokenizer()
        if self.rehearse is not None:
            self.rehearse(text, text_pair, **options)
        try:
            with self.tokenizer_lock:
                encoded: BatchEncoding = tokenizer(text, text_pair, **options)
        except BaseException as error:
            # the library in Rust raises its errors as plain exceptions
            if type(error) is not Exception and not is_panic(error):
                raise
            raise BadInput(
                f"the tokenizer of {self.name} broke off: {first_line(error)}; give another text",
                code="tokenizer_broke_off",
                name=self.name,
            ) from error
        return encoded

    def tokens(
        self,
        text: str,
        ids: list[int],
        offsets: list[tuple[int, int]],
        special: list[int] | None,
        attended: list[int],
    ) -> Tokens:
        """The `Tokens` of one row of a tokenised batch, given as the lists that tokenizers return.

        `special` and `attended` have a 1 where a token is special, or not padding; None stands for
        `special_ids`. They are named when they are read.
        """
        named = partial(_named, self.tokenizer, text, ids, offsets, special, attended)
        return Tokens.later(named, text=text, offsets=tuple(offsets))

    def labels_of(self, ids: list[int]) -> tuple[str, ...]:
        """The labels of entries of the vocabulary; two that would look alike show their space."""
        n = len(ids)
        tokens = self.tokens("", ids, [(0, 0)] * n, [0] * n, [1] * n)
        repeated = {label for label, count in Counter(tokens.labels).items() if count > 1}
        return tuple(
            f"{SPACE}{label}" if label in repeated and piece[:1] in WORD_STARTS else label
            for label, piece in zip(tokens.labels, tokens.pieces, strict=True)
        )


def _special_ids(tokenizer: PreTrainedTokenizerBase | None) -> frozenset[int]:
    if tokenizer is None:
        return frozenset()
    added = tokenizer.added_tokens_decoder.items()
    return frozenset(
        (*tokenizer.all_special_ids, *(entry for entry, token in added if token.special))
    )


def _named(
    tokenizer: PreTrainedTokenizerBase | None,
    text: str,
    ids: list[int],
    offsets: list[tuple[int, int]],
    special: list[int] | None,
    attended: list[int],
) -> dict[str, object]:
    """The other fields of `Tokens`."""
    unknown = None if tokenizer is None else tokenizer.unk_token_id
    pieces = _pieces(tokenizer, ids)
    if special is None:
        known = _special_ids(tokenizer)
        special = [int(token in known) for token in ids]
    labels = tuple(
        label(piece, "" if is_special else _word(text[start:end], piece), token == unknown)
        for piece, (start, end), is_special, token in zip(
            pieces, offsets, special, ids, strict=True
        )
    )
    return {
        "ids": np.array(ids, dtype=np.int64),
        "pieces": pieces,
        "labels": labels,
        "special": np.array(special, dtype=np.bool_),
        "padding": ~np.array(attended, dtype=np.bool_),
    }


def _pieces(tokenizer: PreTrainedTokenizerBase | None, ids: list[int]) -> tuple[str, ...]:
    """The vocabulary's entries; an id that the tokenizer does not know stands in brackets."""
    if tokenizer is None:
        return tuple(map(str, ids))
    pieces = tokenizer.convert_ids_to_tokens(ids)
    return tuple(piece or f"[{token}]" for piece, token in zip(pieces, ids, strict=True))


def _word(surface: str, piece: str) -> str:
    """A token's characters, without the space before a word that some tokenizers count in."""
    return (surface.removeprefix(" ") or surface) if surface else _piece_text(piece)


@lru_cache(maxsize=65536)
def _piece_text(piece: str) -> str:
    """The text of a piece that begins a word or stands for bytes; "" for any other."""
    word = piece[1:]
    if piece[:1] in WORD_STARTS and word.isascii():
        return word
    return from_bytes(piece).removeprefix(" ")
