"""Which calls have windows of a picture in their batch, and where these lie.

In: the recorded calls, the model, how many texts or pictures went in, and the grid of patches.
Out: the same calls; those with more rows than inputs carry their `Windows`. The board is told by
what the block around the attention declares (`shift_size`), by the number of tokens in a window,
and by the grid, which each merging of 2 × 2 patches halves; where these do not fit together the
order of the windows counts as unknown.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from torch import nn

from attnviz.attention.call import AttentionCall
from attnviz.vision.windows import Windows, halved

MOST_MERGED = 8  # how often a grid may have been halved


def with_windows(
    model: nn.Module,
    calls: Iterable[AttentionCall],
    n_input: int,
    grid: tuple[int, int] | None,
) -> tuple[AttentionCall, ...]:
    """The calls, each with its windows where it has any."""
    all_calls = tuple(calls)
    if all(call.n_batch == n_input for call in all_calls) or n_input < 1:
        return all_calls
    modules = dict(model.named_modules())
    return tuple(
        replace(call, windows=_windows(modules, call, n_input, grid)) for call in all_calls
    )


def _windows(
    modules: Mapping[str, nn.Module],
    call: AttentionCall,
    n_input: int,
    grid: tuple[int, int] | None,
) -> Windows | None:
    count, side = call.n_batch // n_input, math.isqrt(call.n_query)
    if call.n_batch != count * n_input:
        return None
    unknown = Windows(count, side) if count > 1 else None
    shift = _shift(modules, call.module)
    if grid is None or shift is None or side * side != call.n_query or call.n_query != call.n_key:
        return unknown
    for _ in range(MOST_MERGED):
        found = Windows(count, side, shift, grid)
        if math.prod(found.board) == count and min(grid) >= side:
            return found
        grid = halved(grid)
    return unknown


def _shift(modules: Mapping[str, nn.Module], name: str) -> int | None:
    """How far the block around an attention moves its windows, 0 where it has a size for them
    alone; None where no block has windows."""
    while name:
        name = name.rpartition(".")[0]
        block = modules.get(name)
        size, shift = (getattr(block, of, None) for of in ("window_size", "shift_size"))
        if isinstance(size, int):
            return shift if isinstance(shift, int) else 0
    return None
