"""A model in memory, ready to be captured: the one resource that sessions share.

Attention hooks and the attention implementation are global to a model object while web sessions
are threads, so whoever runs the model with either changed holds `lock`.
"""

import threading
from dataclasses import dataclass, field

import numpy as np
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from attnviz.models.labels import label
from attnviz.types import ModelCard, ModelKey, Tokens


@dataclass(eq=False)
class LoadedModel:
    """A model with its tokenizer. `notice` tells, in words, when it is not quite what was asked."""

    card: ModelCard
    key: ModelKey
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    notice: str | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def kind(self) -> str:
        return self.card.kind

    @property
    def n_layers(self) -> int:
        return int(self.model.config.num_hidden_layers)

    @property
    def n_heads(self) -> int:
        return int(self.model.config.num_attention_heads)

    @property
    def max_tokens(self) -> int:
        """How many tokens a text may have, the special ones included."""
        positions = getattr(self.model.config, "max_position_embeddings", None)
        limits = (int(self.tokenizer.model_max_length), int(positions) if positions else None)
        return min(limit for limit in limits if limit is not None)

    def tokens(
        self,
        text: str,
        ids: list[int],
        offsets: list[tuple[int, int]],
        special: list[int],
        attended: list[int],
    ) -> Tokens:
        """The `Tokens` of one row of a tokenised batch, labels made; lists as tokenizers gives."""
        pieces = tuple(self.tokenizer.convert_ids_to_tokens(ids))
        unknown = self.tokenizer.unk_token_id
        labels = tuple(
            label(piece, "" if added else text[start:end], unknown=token == unknown)
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
