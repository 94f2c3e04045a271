"""Weights between runs of tokens instead of tokens: words, or what two tokenizers have in common.

In: weights [query, key] and runs that cover each axis in order. Out: one row and one column for
each run. A run's share of attention is the sum over its keys; as a query it asks with the mean of
its tokens, so that rows keep what they held: where they summed to 1, they still do.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32


@runtime_checkable
class Span(Protocol):
    """The tokens from `start` to before `stop`."""

    @property
    def start(self) -> int: ...

    @property
    def stop(self) -> int: ...


def merged(
    weights: Float32[np.ndarray, "*heads query key"],
    queries: Sequence[Span],
    keys: Sequence[Span],
) -> Float32[np.ndarray, "*heads row column"]:
    """Weights between runs: summed over the keys of a run, averaged over its queries."""
    if len(queries) == weights.shape[-2] and len(keys) == weights.shape[-1]:
        return weights
    by_key = np.add.reduceat(weights, [span.start for span in keys], axis=-1)
    found = np.zeros((*by_key.shape[:-2], len(queries), len(keys)), dtype=np.float32)
    for place, span in enumerate(queries):
        found[..., place, :] = by_key[..., span.start : span.stop, :].mean(axis=-2)
    return found
