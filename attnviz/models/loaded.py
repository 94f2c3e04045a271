"""A model in memory, ready to be captured: the one resource that sessions share.

Attention hooks and the attention implementation are global to a model object while web sessions
are threads, so whoever runs the model with either changed holds `lock`.
"""

import threading
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from torch import nn
from transformers import PreTrainedConfig, PreTrainedTokenizerBase

from attnviz.errors import BadInput
from attnviz.models.seeded import Example
from attnviz.tokens.labels import from_bytes, label
from attnviz.types import ModelCard, ModelKey, ModelKind, Tokens

# a text that is longer than this is refused even by models without a limit of their own
MOST_TOKENS = 16_384
# how byte-pair and SentencePiece vocabularies write the space before a word
WORD_STARTS = ("Ġ", "▁")
SPACE = "␣"


@dataclass(eq=False)
class LoadedModel:
    """A model with what prepares its inputs; `notice` says when it is not quite what was asked.

    `example` has the inputs that come with a model that reads neither text nor pictures.
    """

    card: ModelCard
    key: ModelKey
    model: nn.Module
    tokenizer: PreTrainedTokenizerBase | None = None
    processor: object | None = None
    notice: str | None = None
    example: Example | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)

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
        limits = [MOST_TOKENS]
        if self.tokenizer is not None:
            limits.append(int(self.tokenizer.model_max_length))
        config = getattr(self.model, "config", None)
        if isinstance(config, PreTrainedConfig):
            positions = getattr(config.get_text_config(), "max_position_embeddings", None)
            limits += [positions] if isinstance(positions, int) and positions > 0 else []
        return min(limits)

    @property
    def special_ids(self) -> frozenset[int]:
        """The entries of the vocabulary that stand for no text: those that the tokenizer names,
        and those that were added as control tokens, such as what separates messages."""
        tokenizer = self.tokenizer
        if tokenizer is None:
            return frozenset()
        added = tokenizer.added_tokens_decoder.items()
        return frozenset((*tokenizer.all_special_ids, *(at for at, of in added if of.special)))

    def text_tokenizer(self) -> PreTrainedTokenizerBase:
        """The tokenizer; `BadInput` for a model that takes no text."""
        if self.tokenizer is None:
            raise BadInput(
                f"{self.name} is a {self.kind} model without a tokenizer: it takes no text; pass"
                " image= or inputs=",
                code="no_tokenizer",
                name=self.name,
                kind=self.kind,
            )
        return self.tokenizer

    def tokens(
        self,
        text: str,
        ids: list[int],
        offsets: list[tuple[int, int]],
        special: list[int],
        attended: list[int],
    ) -> Tokens:
        """The `Tokens` of one row of a tokenised batch, labels made; lists as tokenizers gives."""
        tokenizer = self.tokenizer
        unknown = None if tokenizer is None else tokenizer.unk_token_id
        if tokenizer is None:
            pieces = tuple(str(token) for token in ids)
        else:
            found = tokenizer.convert_ids_to_tokens(ids)
            # a model may have more rows than its tokenizer has words
            pieces = tuple(piece or f"[{token}]" for piece, token in zip(found, ids, strict=True))
        labels = tuple(
            label(piece, "" if added else _word(text[start:end], piece), token == unknown)
            for piece, (start, end), added, token in zip(pieces, offsets, special, ids, strict=True)
        )
        return Tokens(
            text=text,
            ids=np.array(ids, dtype=np.int64),
            pieces=pieces,
            labels=labels,
            offsets=tuple(offsets),
            special=np.array(special, dtype=np.bool_),
            padding=~np.array(attended, dtype=np.bool_),
        )

    def labels_of(self, ids: list[int]) -> tuple[str, ...]:
        """The labels of entries of the vocabulary; two that would look alike show their space."""
        n = len(ids)
        found = self.tokens("", ids, [(0, 0)] * n, [0] * n, [1] * n)
        twice = {label for label, count in Counter(found.labels).items() if count > 1}
        return tuple(
            f"{SPACE}{label}" if label in twice and piece[:1] in WORD_STARTS else label
            for label, piece in zip(found.labels, found.pieces, strict=True)
        )


def _word(surface: str, piece: str) -> str:
    """What a token stands for, without the space before a word that some tokenizers count in."""
    return (surface.removeprefix(" ") or surface) if surface else _surface(piece)


def _surface(piece: str) -> str:
    """What a piece that begins a word, or stands for bytes, says without its text; else nothing."""
    word = piece[1:]
    if piece[:1] in WORD_STARTS and word.isascii():
        return word
    return from_bytes(piece).removeprefix(" ")
