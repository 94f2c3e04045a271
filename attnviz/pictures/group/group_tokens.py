"""The tokens along the queries and keys of a group, and which of them the model generated.

In: a group, a batch row and a layer. Out: `Tokens` as long as the axis. A layer with windows has
the tokens of the window that is looked at; the batch row is then ignored.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool

from attnviz.pictures.group.groups import Group
from attnviz.types import Stack, Tokens, named_tokens
from attnviz.vision.windows import halved

if TYPE_CHECKING:
    from attnviz.attention.call import AttentionCall

# stacks that read an input and generate nothing
READING: tuple[Stack, ...] = ("encoder", "vision", "audio")

TokensOf = Callable[[Group, int, int], Tokens]


def queries(group: Group, batch: int = 0, layer: int = 0) -> Tokens:
    """The tokens along the queries."""
    call = group.calls[layer]
    tokens = group.capture.query_tokens(call, _row(group, call, batch, layer))
    return _fitting(group, tokens, call.n_query)


def keys(group: Group, batch: int = 0, layer: int = 0) -> Tokens:
    """The tokens along the keys."""
    call = group.calls[layer]
    tokens = group.capture.key_tokens(call, _row(group, call, batch, layer))
    return _fitting(group, tokens, call.n_key)


def generated_queries(group: Group, layer: int = 0) -> Bool[np.ndarray, "query"]:
    """True for each query whose token the model generated."""
    return _generated(group, group.calls[layer].n_query, group.stack not in READING)


def generated_keys(group: Group, layer: int = 0) -> Bool[np.ndarray, "key"]:
    """True for each key whose token the model generated."""
    generates = group.stack not in READING and not group.cross
    return _generated(group, group.calls[layer].n_key, generates)


def _generated(group: Group, n: int, generates: bool) -> Bool[np.ndarray, "token"]:
    """Generated tokens are the last ones of a stack that generates."""
    return np.arange(n) >= n - (group.capture.n_generated if generates else 0)


def _row(group: Group, call: "AttentionCall", batch: int, layer: int) -> int:
    return batch if call.windows is None else group.row(layer)


def _fitting(group: Group, tokens: Tokens, n: int) -> Tokens:
    """The tokens if they are as many as the axis is long; else merged patches, else numbers."""
    if len(tokens) == n:
        return tokens
    return _merged_patches(group.capture.grid, n) or named_tokens(tuple(map(str, range(n))))


def _merged_patches(grid: tuple[int, int] | None, n: int) -> Tokens | None:
    """Patches of a grid that was halved until it has `n` places; None if it never has."""
    from attnviz.capture.plan.images import patch_tokens

    while grid is not None and grid[0] * grid[1] > n > 0:
        grid = halved(grid)
    return patch_tokens(n, grid) if grid is not None and grid[0] * grid[1] == n else None
