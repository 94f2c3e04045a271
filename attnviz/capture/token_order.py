"""Where tokens are whose order is the model's own, found by sending their places through its code.

Some models unroll their tokens so that those which are pooled later stand together (Ryali et al.
2023, "Hiera"), attend inside windows of that order, and pool queries. Their encoder has a method
that rolls tokens back, `reroll`, with a `schedule` of sizes for each stage.
In: the calls of a model, after they ran. Out: the same calls, with places where these are certain.
The numbers of tokens go through `reroll`, so the place of each is known; then the attention module
runs on tokens that are nothing but their row, or their column, times one vector. A layer's keys are
linear in that, so each key says where it is; a query that is the largest of several says where the
first and the last of them are. Only what fits without remainder counts: every place once. What a
module said is kept as long as the module is: to ask costs some two passes of the model.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnviz.attention.call import AttentionCall
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.record.watch import Seen, Watch, fast_path
from attnviz.vision.token_boxes import PatchRange as Span
from attnviz.vision.token_boxes import Places
from attnviz.vision.windows import Windows

LEAST = 0.3  # of the largest: components that are smaller say little about a place
NEAR = 0.02  # of one place: how far from a whole number a place may come out
SEED = 55

Cells = tuple[tuple[tuple[int, int], ...], ...]


@dataclass(frozen=True, eq=False)
class Spread:
    """The first and the last row and column that a token of each window stands for."""

    first: Int[Tensor, "window token axis"]
    last: Int[Tensor, "window token axis"]


SEEN: WeakKeyDictionary[nn.Module, dict[int, tuple[Spread, Spread] | None]] = WeakKeyDictionary()


def with_unrolled(
    model: nn.Module, calls: Sequence[AttentionCall], n_input: int
) -> tuple[AttentionCall, ...]:
    """The calls, with places where the model unrolls its tokens; the model runs no other way."""
    modules = dict(model.named_modules())
    encoders = {
        name: of
        for name, of in modules.items()
        if callable(getattr(of, "reroll", None)) and isinstance(getattr(of, "schedule", None), dict)
    }
    return tuple(
        next(
            (
                _placed(encoder, modules[call.module], call, n_input)
                for name, encoder in encoders.items()
                if call.module.startswith(f"{name}.") and call.n_batch % n_input == 0
            ),
            call,
        )
        for call in calls
    )


def _placed(
    encoder: nn.Module, module: nn.Module, call: AttentionCall, n_input: int
) -> AttentionCall:
    count = call.n_batch // n_input
    rolled = _rolled(encoder, count * call.n_key)
    if rolled is None:
        return call
    known = SEEN.setdefault(module, {})
    if rolled.numel() not in known:
        known[rolled.numel()] = _seen(module, rolled)
    found = known[rolled.numel()]
    if found is None:
        return call
    queries, keys = (_places(of, rolled, count) for of in found)
    if queries is None or keys is None or keys.coarse:
        return call
    windows = _windows(keys, count)
    if count > 1 and windows is None:
        return call
    return replace(call, query_places=queries, key_places=keys, windows=windows)


def _rolled(encoder: nn.Module, n_token: int) -> Int[Tensor, "row column"] | None:
    """Which token of a sequence is at each place, by the model's own account; None where stages
    of this length disagree."""
    numbers = torch.arange(n_token).view(1, n_token, 1)
    found: list[Tensor] = []
    for stage, (_, size) in encoder.schedule.items():  # type: ignore[union-attr, operator]
        if size[0] * size[1] == n_token and len(size) == 2:
            found.append(encoder.reroll(numbers, stage)[0, :, :, 0])  # type: ignore[operator]
    agree = bool(found) and all(torch.equal(of, found[0]) for of in found)
    every = agree and torch.equal(found[0].flatten().sort().values, numbers.flatten())
    return found[0] if every else None


def _seen(module: nn.Module, rolled: Tensor) -> tuple[Spread, Spread] | None:
    """What queries and keys say of their places when tokens are nothing but places."""
    linear = next((of for of in module.modules() if isinstance(of, nn.Linear)), None)
    if linear is None:
        return None
    rows, columns = rolled.shape
    weight = linear.weight
    place = torch.empty(2, rolled.numel(), device=weight.device, dtype=weight.dtype)
    place[0, rolled.flatten()] = torch.arange(rows).repeat_interleave(columns).to(place)
    place[1, rolled.flatten()] = torch.arange(columns).repeat(rows).to(place)
    along = torch.randn(linear.in_features, generator=torch.Generator().manual_seed(SEED))
    known = torch.stack([torch.zeros_like(place[0]), torch.ones_like(place[0]), *place])
    call = _watched(module, known[:, :, None] * along.to(place))
    if call is None or call.query is None or call.key is None:
        return None
    query, key = (_spread(of.float(), len(known)) for of in (call.query, call.key))
    return None if query is None or key is None else (query, key)


def _watched(module: nn.Module, tokens: Tensor) -> StoredWeights | None:
    """What the attention module computes of these tokens; None where it is not one softmax."""
    seen: list[Seen] = []
    with torch.no_grad(), fast_path.off():
        watch = Watch({"": module}, seen.append)
        try:
            with watch:
                module(tokens)
        except (RuntimeError, TypeError, ValueError):
            return None  # it takes something else: nothing is known
        finally:
            watch.close()
    found = seen[0].found if len(seen) == 1 else None
    return found if isinstance(found, StoredWeights) else None


def _spread(made: Float[Tensor, "known_window head token d_head"], n_known: int) -> Spread | None:
    """Places read off q or k: linear ones, or the largest of several linear ones.

    The first two of the known tokens are 0 and 1, so they tell what one place adds; where that is
    above zero the largest is the last place, where it is below zero the first one.
    """
    flat = made.transpose(1, 2).flatten(2)  # [known·window, token, head·d_head]
    nothing, one, *axes = flat.reshape(n_known, -1, *flat.shape[1:]).unbind()
    step = one - nothing
    large = step.abs() > LEAST * step.abs().amax(-1, keepdim=True)
    first, last = [], []
    for axis in axes:
        place = (axis - nothing) / torch.where(large, step, torch.ones_like(step))
        whole = place.round()
        if not bool(((place - whole).abs() <= NEAR)[large].all()):
            return None
        ends = []
        for side in (large & (step < 0), large & (step > 0)):
            low = whole.masked_fill(~side, torch.inf).amin(-1)
            high = whole.masked_fill(~side, -torch.inf).amax(-1)
            if not torch.equal(low, high):  # infinite, and unequal, where no component is large
                return None
            ends.append(low.long())
        first.append(ends[0])
        last.append(ends[1])
    return Spread(torch.stack(first, -1), torch.stack(last, -1))


def _places(spread: Spread, rolled: Tensor, count: int) -> Places | None:
    """Places with every patch in exactly one token; None where that is not so."""
    grid = (rolled.shape[0], rolled.shape[1])
    boxes = torch.cat([spread.first, spread.last + 1], -1).tolist()
    if len(boxes) != count:
        return None
    tokens = [tuple(box) for window in boxes for box in window]
    rows, columns = (_spans((box[at], box[at + 2]) for box in tokens) for at in (0, 1))
    if rows is None or columns is None or (rows[-1][1], columns[-1][1]) != grid:
        return None
    row_of, column_of = ({span: at for at, span in enumerate(of)} for of in (rows, columns))
    cells: Cells = tuple(
        tuple((row_of[(box[0], box[2])], column_of[(box[1], box[3])]) for box in window)
        for window in boxes
    )
    every = sorted(cell for window in cells for cell in window)
    whole = every == [(row, column) for row in range(len(rows)) for column in range(len(columns))]
    return Places(grid, rows, columns, cells) if whole else None


def _spans(found: Iterable[Span]) -> tuple[Span, ...] | None:
    """Spans in their order, one after the other from 0 on; None where they leave gaps."""
    spans = tuple(sorted(set(found)))
    starts = (0, *(stop for _, stop in spans[:-1]))
    return spans if tuple(start for start, _ in spans) == starts else None


def _windows(keys: Places, count: int) -> Windows | None:
    """The windows on a board of squares, row by row; None where they are not, or there is one."""
    side = round(len(keys.cells[0]) ** 0.5)
    found = Windows(count, side, 0, keys.grid)
    fits = count > 1 and found.board[0] * found.board[1] == count
    return (
        found
        if fits and all(set(found.places(at)) == set(keys.cells[at]) for at in range(count))
        else None
    )
