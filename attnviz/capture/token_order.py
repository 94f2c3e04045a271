"""The places of tokens in an order of the model's own, found by sending coordinates through it.

Some models unroll their tokens so that those which are pooled later stand together (Ryali et al.
2023, "Hiera"), attend inside windows of that order, and pool queries. Their encoder has a method
that rolls tokens back, `reroll`, with a `schedule` of sizes for each stage.
In: the calls of a model, after they ran. Out: the same calls, with places where these are certain.
The numbers of tokens go through `reroll`, which gives the place of each. Then the attention module
runs on tokens that are nothing but their row, or their column, times one vector. A layer's keys are
linear in that, so each key tells where it is; a query that is the maximum of several tells where
the first and the last of them are. The result counts only if every patch has exactly one token. It
is kept as long as the module is: finding it costs about two passes of the model.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.locate.modules import Modules, last_fact, modules_by_name
from attnviz.capture.record.fast_path import fast_path
from attnviz.capture.record.seen_attention import SeenAttention
from attnviz.capture.record.watch import Watch
from attnviz.vision.token_boxes import PatchRange, Places
from attnviz.vision.windows import Windows

MIN_SLOPE = 0.3  # of the largest: components with a smaller slope say little about a place
MAX_ERROR = 0.02  # of one place: how far from a whole number a place may come out
SEED = 55

Cells = tuple[tuple[tuple[int, int], ...], ...]


@dataclass(frozen=True, eq=False)
class Corners:
    """The first and the last (row, column) of the patches that each token stands for."""

    first: Int[Tensor, "window token axis"]
    last: Int[Tensor, "window token axis"]


@dataclass(frozen=True, eq=False)
class CallCorners:
    """The corners of the queries and of the keys of one attention module."""

    query: Corners
    key: Corners


# by the module and the number of its tokens; None where the module does not tell
KNOWN: WeakKeyDictionary[nn.Module, dict[int, CallCorners | None]] = WeakKeyDictionary()


def with_token_order(
    model: nn.Module, calls: Sequence[AttentionCall], n_input: int
) -> tuple[AttentionCall, ...]:
    """The calls of a model that unrolls its tokens, with their places; of any other unchanged."""
    rolling = last_fact(model, _rolling)
    if not rolling:
        return tuple(calls)
    modules = modules_by_name(model)
    encoders = {
        name: modules[name]
        for name in rolling
        if isinstance(getattr(modules[name], "schedule", None), dict)
    }
    return tuple(_with_places(encoders, modules, call, n_input) for call in calls)


def _rolling(modules: Modules) -> list[str]:
    """The names of the modules whose class can roll its tokens back."""
    return [name for name, module in modules.items() if hasattr(type(module), "reroll")]


def _with_places(
    encoders: Mapping[str, nn.Module],
    modules: Mapping[str, nn.Module],
    call: AttentionCall,
    n_input: int,
) -> AttentionCall:
    """The call with its places, if it belongs to an encoder that unrolls and they are certain."""
    names = (name for name in encoders if call.module.startswith(f"{name}."))
    encoder = next((encoders[name] for name in names), None)
    if encoder is None or call.n_batch % n_input:
        return call
    n_window = call.n_batch // n_input
    token_at = _token_at(encoder, n_window * call.n_key)
    corners = None if token_at is None else _known_corners(modules[call.module], token_at)
    if token_at is None or corners is None:
        return call
    grid = (token_at.shape[0], token_at.shape[1])
    query_places = _places(corners.query, grid, n_window)
    key_places = _places(corners.key, grid, n_window)
    if query_places is None or key_places is None or key_places.coarse:
        return call
    windows = _windows(key_places, n_window)
    if n_window > 1 and windows is None:
        return call
    return replace(call, query_places=query_places, key_places=key_places, windows=windows)


def _token_at(encoder: nn.Module, n_token: int) -> Int[Tensor, "row column"] | None:
    """The number of the token at each place, by the encoder's own `reroll`.

    None if stages with so many tokens disagree, or if a token is missing.
    """
    numbers = torch.arange(n_token)
    grids: list[Tensor] = []
    for stage, (_, size) in encoder.schedule.items():  # type: ignore[union-attr, operator]
        if len(size) == 2 and size[0] * size[1] == n_token:
            rolled = encoder.reroll(numbers.view(1, n_token, 1), stage)  # type: ignore[operator]
            grids.append(rolled[0, :, :, 0])
    if not grids or not all(torch.equal(grid, grids[0]) for grid in grids):
        return None
    is_complete = torch.equal(grids[0].flatten().sort().values, numbers)
    return grids[0] if is_complete else None


def _known_corners(module: nn.Module, token_at: Tensor) -> CallCorners | None:
    """The corners of a module's tokens; found once for each number of tokens."""
    known = KNOWN.setdefault(module, {})
    if token_at.numel() not in known:
        known[token_at.numel()] = _found_corners(module, token_at)
    return known[token_at.numel()]


def _found_corners(module: nn.Module, token_at: Tensor) -> CallCorners | None:
    """The corners that queries and keys tell when tokens are nothing but coordinates."""
    linear = next((layer for layer in module.modules() if isinstance(layer, nn.Linear)), None)
    if linear is None:
        return None
    n_row, n_column = token_at.shape
    weight, order = linear.weight, token_at.flatten()
    rows, columns = (weight.new_empty(token_at.numel()) for _ in range(2))
    rows[order] = torch.arange(n_row).repeat_interleave(n_column).to(weight)
    columns[order] = torch.arange(n_column).repeat(n_row).to(weight)
    coordinates = torch.stack([torch.zeros_like(rows), torch.ones_like(rows), rows, columns])
    direction = torch.randn(
        linear.in_features, generator=torch.Generator().manual_seed(SEED), dtype=torch.float32
    )
    inputs = _inputs(module, coordinates[:, :, None] * direction.to(weight))
    if inputs is None or inputs.query is None or inputs.key is None:
        return None
    query, key = (_corners(vectors.float()) for vectors in (inputs.query, inputs.key))
    return None if query is None or key is None else CallCorners(query, key)


def _inputs(module: nn.Module, tokens: Tensor) -> AttentionInputs | StoredWeights | None:
    """The attention that a module computes of these tokens; None unless it is one softmax."""
    seen: list[SeenAttention] = []
    with torch.no_grad(), fast_path.held():
        watch = Watch(dict(module.named_modules()), seen.append)
        try:
            with watch:
                module(tokens)
        except (RuntimeError, TypeError, ValueError):
            return None  # it takes other arguments: nothing is known
        finally:
            watch.close()
    return seen[0].inputs if len(seen) == 1 else None


def _corners(vectors: Float[Tensor, "input_window head token d_head"]) -> Corners | None:
    """The corners that q or k tells, which are linear in the coordinates, or a maximum of such.

    The four inputs are 0 everywhere, 1 everywhere, the rows and the columns. The first two tell
    the slope of each component: where it is positive, the maximum is at the last place, where it is
    negative, at the first one.
    """
    flat = vectors.transpose(1, 2).flatten(2)  # [input·window, token, head·d_head]
    at_zero, at_one, of_rows, of_columns = flat.reshape(4, -1, *flat.shape[1:]).unbind()
    slope = at_one - at_zero
    is_steep = slope.abs() > MIN_SLOPE * slope.abs().amax(-1, keepdim=True)
    ends = []
    for values in (of_rows, of_columns):
        place = (values - at_zero) / torch.where(is_steep, slope, torch.ones_like(slope))
        whole = place.round()
        if not bool(((place - whole).abs() <= MAX_ERROR)[is_steep].all()):
            return None
        first = _agreed(whole, is_steep & (slope < 0))
        last = _agreed(whole, is_steep & (slope > 0))
        if first is None or last is None:
            return None
        ends.append((first, last))
    first, last = (torch.stack(axes, -1) for axes in zip(*ends, strict=True))
    return Corners(first, last)


def _agreed(
    places: Float[Tensor, "window token component"], counted: Tensor
) -> Int[Tensor, "window token"] | None:
    """The place that all counted components of a token give; None unless they agree."""
    lowest = places.masked_fill(~counted, torch.inf).amin(-1)
    highest = places.masked_fill(~counted, -torch.inf).amax(-1)
    return lowest.long() if torch.equal(lowest, highest) else None


def _places(corners: Corners, grid: tuple[int, int], n_window: int) -> Places | None:
    """Places in which every patch belongs to exactly one token; None if that is not so."""
    boxes = torch.cat([corners.first, corners.last + 1], -1).tolist()
    if len(boxes) != n_window:
        return None
    row_spans = _spans((top, bottom) for window in boxes for top, _, bottom, _ in window)
    column_spans = _spans((left, right) for window in boxes for _, left, _, right in window)
    if row_spans is None or column_spans is None:
        return None
    if (row_spans[-1][1], column_spans[-1][1]) != grid:
        return None
    row_of = {span: row for row, span in enumerate(row_spans)}
    column_of = {span: column for column, span in enumerate(column_spans)}
    cells: Cells = tuple(
        tuple((row_of[top, bottom], column_of[left, right]) for top, left, bottom, right in window)
        for window in boxes
    )
    occupied = sorted(cell for window in cells for cell in window)
    n_row, n_column = len(row_spans), len(column_spans)
    all_cells = [(row, column) for row in range(n_row) for column in range(n_column)]
    return Places(grid, row_spans, column_spans, cells) if occupied == all_cells else None


def _spans(spans: Iterable[PatchRange]) -> tuple[PatchRange, ...] | None:
    """Spans in order, each beginning where the one before ends, from 0; None if there are gaps."""
    ordered = tuple(sorted(set(spans)))
    starts = (0, *(stop for _, stop in ordered[:-1]))
    return ordered if tuple(start for start, _ in ordered) == starts else None


def _windows(places: Places, n_window: int) -> Windows | None:
    """The windows on a board of squares, row by row; None if they are not, or if there is one."""
    side = round(len(places.cells[0]) ** 0.5)
    windows = Windows(n_window, side, 0, places.grid)
    if n_window < 2 or windows.board[0] * windows.board[1] != n_window:
        return None
    on_board = all(
        set(windows.places(number)) == set(places.cells[number]) for number in range(n_window)
    )
    return windows if on_board else None
