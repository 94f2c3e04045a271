"""Find W_Q, W_K and W_V where q, k or v shares no memory with a layer: turned, scaled or copied.

A rotary embedding writes q and k anew, a key cache copies k and v, some models scale q before the
call. In: the linear layers that ran just before an attention call, with their outputs, and the
tensor that the call used. Out: the layer whose output it is, with the columns of each head, when
some rows of every head are the very same numbers (a copy), one multiple of them (`multiple`), or
the same numbers turned pair by pair, all heads alike (`attnviz.attention.rotary`).
Lengths do not change when pairs turn, so they tell which columns of a fused layer belong to which
head. Nothing is assumed of names, and what fits nothing stays absent.

The first layer of a model is searched; the others are guessed to be like it, and all guesses of a
forward pass are held against the numbers together, as more heads of one rotation: to ask in every
layer would cost more than the layer of a small model.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float32
from torch import Tensor, nn

from attnviz.attention import rotary
from attnviz.attention.tolerance import type_tolerance
from attnviz.capture.locate import scale

COMPARED_ROWS = 4
# what fits no layer in so many calls is not searched any further
MISSES = 2

Heads = Float32[np.ndarray, "head row d_head"]
Blocks = Float32[np.ndarray, "block row d_head"]


@dataclass(frozen=True, eq=False)
class Ran:
    """A linear layer that ran: its dotted name, what it read and what it wrote."""

    name: str
    module: nn.Module
    into: Tensor
    output: Tensor

    @cached_property
    def storage(self) -> int:
        """Where its output lies in memory."""
        return storage_of(self.output)


def storage_of(tensor: Tensor) -> int:
    """The address of the memory that a tensor and its views share."""
    return tensor.untyped_storage().data_ptr()


@dataclass(frozen=True, eq=False)
class Found:
    """The layer that made a tensor, the first column of each head, and whether it was turned.

    `factor` is what the model multiplied it by; what was turned has 1, its rotation may stretch.
    `before` and `after` are some rows of every head, as the layer wrote and the call used them.
    """

    layer: Ran
    starts: tuple[int, ...]
    turned: bool
    before: Heads
    after: Heads
    factor: float = 1.0


@dataclass(frozen=True, eq=False)
class Guess:
    """Some of q, k, v that are believed to be turned, before and after, head by head."""

    names: tuple[str, ...]
    before: Heads
    after: Heads
    tolerance: float


class Search:
    """Looks for the layers of one model, while it is recorded."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}  # counted from the newest layer, −1
        self._turned: dict[str, tuple[int, ...]] = {}
        self._likely: rotary.Rotation | None = None
        self._misses: dict[str, int] = {}

    def makers(
        self, recent: Sequence[Ran], tensors: dict[str, Tensor], n_token: int
    ) -> tuple[dict[str, Found], Guess | None]:
        """The layers that made those of q, k, v that are given, by their newest tokens.

        Turned ones are a guess: they count once `disproved` has not named it.
        """
        found: dict[str, Found] = {}
        for name, tensor in tensors.items():
            if self._misses.get(name, 0) >= MISSES:
                continue
            maker = self._maker(name, tensor, recent, n_token, found.get("q"))
            self._misses[name] = 0 if maker else self._misses.get(name, 0) + 1
            if maker:
                found[name] = maker
        return found, _guess(found, tensors)

    def disproved(self, guesses: Sequence[Guess]) -> list[Guess]:
        """Those that no rotation explains. Guesses of one forward pass turn alike as a rule."""
        if not guesses or self._turns(guesses):
            return []
        return [guess for guess in guesses if not self._turns([guess])]

    def _turns(self, guesses: Sequence[Guess]) -> bool:
        if len({guess.before.shape[1:] for guess in guesses}) > 1:
            return False
        before = np.concatenate([guess.before for guess in guesses])
        after = np.concatenate([guess.after for guess in guesses])
        tolerance = guesses[0].tolerance
        return rotary.find(before, after, tolerance, self._likely) is not None

    def _maker(
        self, name: str, tensor: Tensor, recent: Sequence[Ran], n_token: int, q: Found | None
    ) -> Found | None:
        """The layer that made a tensor, by the newest `n_token` places that it wrote, or by all.

        A layer writes all where keys of cross-attention are copied into a cache; these turn never.
        """
        n_batch, _, n_all, width = tensor.shape
        sampled = {n: _sampled(tensor[0], n) for n in {n_token, n_all}}
        for place in self._order(name, len(recent)):
            layer = recent[len(recent) + place]
            rows, written, n_column = layer.output.shape
            if rows != n_batch or written not in sampled or n_column % width:
                continue
            after = sampled[written]
            if written == n_token:
                found = self._related(name, layer, after, q, tensor)
            else:
                found = _scaled(layer, _blocks(layer.output[0], width), after, tensor)
            if found is not None:
                self._places[name] = place
                return found
        return None

    def _order(self, name: str, n_layer: int) -> Iterable[int]:
        """Where to look: where it was last time, then from the newest back."""
        places: Iterable[int] = range(-1, -n_layer - 1, -1)
        last = self._places.get(name)
        return places if last is None or -last > n_layer else [last, *places]

    def _related(
        self, name: str, layer: Ran, after: Heads, q: Found | None, tensor: Tensor
    ) -> Found | None:
        """What a layer has to do with a tensor, of which `after` is a part."""
        d_head = after.shape[2]
        columns = _blocks(layer.output[0], d_head)
        known = self._turned.get(name)
        if known is not None and known[-1] < layer.output.shape[2] and len(known) == len(after):
            before = columns[[start // d_head for start in known]]
            return Found(layer, known, True, before, after)
        scaled = _scaled(layer, columns, after, tensor)
        if scaled is not None or name == "v":
            return scaled
        return self._turned_from(name, layer, columns, after, q, type_tolerance(tensor.dtype))

    def _turned_from(
        self,
        name: str,
        layer: Ran,
        columns: Blocks,
        after: Heads,
        q: Found | None,
        tolerance: float,
    ) -> Found | None:
        """A layer whose columns were turned; with a `q` that turned, k has to turn like it."""
        order = _columns(columns, after, tolerance)
        if order is None:
            return None
        before, starts = columns[order], tuple(column * after.shape[2] for column in order)
        with_q = q is not None and q.turned
        turns = rotary.find(
            np.concatenate([q.before, before]) if with_q and q else before,
            np.concatenate([q.after, after]) if with_q and q else after,
            tolerance,
            self._likely,
        )
        if turns is None:
            return None
        self._likely, self._turned[name] = turns, starts
        return Found(layer, starts, True, before, after)


def _scaled(layer: Ran, columns: Blocks, after: Heads, tensor: Tensor) -> Found | None:
    """A layer whose columns were copied, or multiplied by one number."""
    found = scale.find(columns, after, tensor.dtype)
    if found is None or not scale.holds(found, layer.output, tensor):
        return None
    starts = tuple(block * after.shape[2] for block in found.order)
    return Found(layer, starts, False, columns[list(found.order)], after, found.factor)


def _guess(found: dict[str, Found], tensors: dict[str, Tensor]) -> Guess | None:
    """What is believed to be turned, as one."""
    turned = {name: of for name, of in found.items() if of.turned}
    if not turned:
        return None
    return Guess(
        names=tuple(turned),
        before=np.concatenate([of.before for of in turned.values()]),
        after=np.concatenate([of.after for of in turned.values()]),
        # relative to the largest number here; measured 3e-7 in float32, 8e-3 in bfloat16
        tolerance=type_tolerance(next(iter(tensors.values())).dtype),
    )


def _sampled(tensor: Tensor, n_token: int) -> Heads:
    """Some of the newest tokens of every head, the last one among them."""
    step = math.ceil(n_token / COMPARED_ROWS)
    first = tensor.shape[1] - n_token + (n_token - 1) % step
    rows: Heads = tensor.detach()[:, first::step].float().cpu().numpy().copy()  # frees the rest
    return rows


def _blocks(output: Tensor, d_head: int) -> Blocks:
    """The same tokens of a layer's output [token, column], cut into blocks as wide as a head."""
    rows = _sampled(output[None], len(output))[0]
    blocks: Blocks = rows.reshape(len(rows), -1, d_head).swapaxes(0, 1)
    return blocks


def _columns(columns: Blocks, after: Heads, tolerance: float) -> list[int] | None:
    """Which block of columns has the length of each head; None where that is not one for each.

    A layer that is as wide as all heads together has them in their order.
    """
    if len(columns) == len(after):
        return list(range(len(after)))
    if len(columns) < len(after):
        return None
    wanted = rotary.squares(after)
    difference = np.abs(rotary.squares(columns)[None] - wanted[:, None]).max(axis=-1)
    chosen: list[int] = difference.argmin(axis=1).tolist()
    fits = bool(difference.min(axis=1).max() <= 4 * tolerance * wanted.max())
    return chosen if fits and len(set(chosen)) == len(chosen) else None
