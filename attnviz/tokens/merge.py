"""Attention weights between ranges of tokens, such as words, instead of single tokens.

In: weights [query, key] and ranges that cover each axis in order. Out: one row and one column for
each range. As keys, the weights of a range are summed; as queries, they are averaged, so that rows
which summed to 1 still do.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32


@runtime_checkable
class TokenRange(Protocol):
    """The tokens from `start` to before `stop`."""

    @property
    def start(self) -> int:
        """The first token."""

    @property
    def stop(self) -> int:
        """The token behind the last one."""


def merged(
    weights: Float32[np.ndarray, "*heads query key"],
    queries: Sequence[TokenRange],
    keys: Sequence[TokenRange],
) -> Float32[np.ndarray, "*heads row column"]:
    """Weights between ranges: summed over the keys of a range, averaged over its queries."""
    if len(queries) == weights.shape[-2] and len(keys) == weights.shape[-1]:
        return weights
    by_key = np.add.reduceat(weights, [part.start for part in keys], axis=-1)
    merged_weights = np.zeros((*by_key.shape[:-2], len(queries), len(keys)), dtype=np.float32)
    for row, part in enumerate(queries):
        merged_weights[..., row, :] = by_key[..., part.start : part.stop, :].mean(axis=-2)
    return merged_weights
