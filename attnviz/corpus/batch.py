"""The tensors that depend only on the tokens of a batch of texts, and so serve every head.

In: a capture of several texts. Out: arrays [text, token] and [text, query, key] of torch, so that
the heads of all texts are measured at once. Only words count as queries, not special tokens or
padding, as in `metrics.patterns.counted_queries`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float32, Int64
from torch import Tensor

from attnviz.attention.capture import Capture
from attnviz.metrics.measures import SHARES, Share, share_keys
from attnviz.metrics.over_texts import CONTENT, SHUFFLES, shuffled_words
from attnviz.metrics.patterns import counted_queries
from attnviz.types import Tokens


@dataclass(frozen=True, eq=False)
class TextBatch:
    """The tokens of some texts, padded to one length.

    `asks` is True for the queries that count, `real` for all tokens but padding. `patterns` are the
    cells of `SHARES`; `shuffled` are the cells of `CONTENT` in `SHUFFLES` shuffles of the words.
    """

    ids: Int64[Tensor, "text token"]
    real: Bool[Tensor, "text token"]
    asks: Bool[Tensor, "text token"]
    patterns: Bool[Tensor, "pattern text query key"]
    shuffled: Bool[Tensor, "shuffle content text query key"]

    @classmethod
    def of(cls, cap: Capture) -> "TextBatch":
        """The batch of a capture of texts."""
        texts = [cap.tokens_of(row) for row in range(cap.n_batch)]
        return cls(
            ids=torch.from_numpy(np.stack([tokens.ids for tokens in texts])),
            real=torch.from_numpy(np.stack([~tokens.padding for tokens in texts])),
            asks=torch.from_numpy(np.stack([counted_queries(tokens) for tokens in texts])),
            patterns=torch.from_numpy(_cells(texts, SHARES)),
            shuffled=torch.from_numpy(
                np.stack([_cells(drawn, CONTENT) for drawn in _draws(texts)])
            ),
        )

    @property
    def n_text(self) -> int:
        """The number of texts."""
        return self.ids.shape[0]

    @property
    def n_token(self) -> int:
        """The number of tokens of the longest text."""
        return self.ids.shape[1]

    @cached_property
    def entries(self) -> tuple[Int64[np.ndarray, " entry"], Int64[np.ndarray, " token"]]:
        """The ids that occur, and for each token its place among them; padding is left out."""
        entry, place = np.unique(self.ids[self.real].numpy(), return_inverse=True)
        return entry, place

    @property
    def apart(self) -> Float32[Tensor, "query key"]:
        """The distance from each query to each key, in tokens."""
        place = torch.arange(self.n_token, dtype=torch.float32)
        return (place[None, :] - place[:, None]).abs()


def _cells(
    texts: list[Tokens], patterns: tuple[Share, ...]
) -> Bool[np.ndarray, "pattern text query key"]:
    return np.stack(
        [np.stack([share_keys(name, tokens, None) for tokens in texts]) for name in patterns]
    )


def _draws(texts: list[Tokens]) -> list[list[Tokens]]:
    """The texts with their words shuffled, `SHUFFLES` times.

    A shuffle depends on the text alone, so that a text may stand in any batch.
    """
    by_text = [list(shuffled_words(tokens)) for tokens in texts]
    return [[drawn[shuffle] for drawn in by_text] for shuffle in range(SHUFFLES)]
