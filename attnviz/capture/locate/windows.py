"""Windows of a picture that stand in the batch of a call, and their places.

In: the recorded calls, the model, the number of texts or pictures that went in, and the grid of
patches. Out: the same calls; those with more rows than inputs carry their `Windows`. The board is
told by the shift that the block around the attention declares (`shift_size`), by the number of
tokens in a window, and by the grid, which each merging of 2 × 2 patches halves. If these do not fit
together, the order of the windows counts as unknown.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from torch import nn

from attnviz.attention.call import AttentionCall
from attnviz.capture.locate.modules import modules_by_name
from attnviz.vision.windows import Windows, halved

MAX_MERGINGS = 8  # of 2 × 2 patches, each of which halves the grid


def with_windows(
    model: nn.Module,
    calls: Iterable[AttentionCall],
    n_input: int,
    grid: tuple[int, int] | None,
) -> tuple[AttentionCall, ...]:
    """The calls, with the windows of those that have any."""
    all_calls = tuple(calls)
    if all(call.n_batch == n_input for call in all_calls) or n_input < 1:
        return all_calls
    modules = modules_by_name(model)
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
    for _ in range(MAX_MERGINGS):
        windows = Windows(count, side, shift, grid)
        if math.prod(windows.board) == count and min(grid) >= side:
            return windows
        grid = halved(grid)
    return unknown


def _shift(modules: Mapping[str, nn.Module], name: str) -> int | None:
    """The shift of the windows in the block around an attention, in tokens.

    0 if the block declares only their size; None if no block has windows.
    """
    while name:
        name = name.rpartition(".")[0]
        block = modules.get(name)
        size, shift = (getattr(block, field, None) for field in ("window_size", "shift_size"))
        if isinstance(size, int):
            return shift if isinstance(shift, int) else 0
    return None
