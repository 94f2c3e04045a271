"""Finds W_Q, W_K and W_V by comparing numbers, where q, k or v shares no memory with a layer.

A rotary embedding writes q and k anew, a key cache copies k and v, some models scale q before the
call. In: the linear layers that ran just before an attention call, and the tensors that it used.
Out: the layer whose output each tensor is, with the columns of each head, if some rows of every
head are the very same numbers (a copy), one multiple of them (`scale`), or the same numbers rotated
pair by pair, all heads alike (`attnviz.attention.rotary`). Rotating pairs keeps lengths, so lengths
tell which columns of a fused layer belong to which head. Names are not used, and a tensor that no
layer explains stays absent.

The first layer of a model is searched; the others are guessed to be like it, and all guesses of a
forward pass are compared with the numbers together, as more heads of one rotation: to search in
every layer would cost more than the layer of a small model.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.attention import rotary
from attnviz.attention.projection import Projection
from attnviz.attention.tolerance import type_tolerance
from attnviz.capture.locate import scale
from attnviz.capture.locate.layers import LinearRun
from attnviz.capture.locate.scale import BlockRows, HeadRows

COMPARED_ROWS = 4
# a tensor that no layer explains in so many calls is not searched any further
MAX_MISSES = 2
# of the squared lengths of heads, in tolerances of the numbers themselves
LENGTH_TOLERANCES = 4


@dataclass(frozen=True, eq=False)
class LayerMatch:
    """The layer that made a tensor, the first column of each head, and what the model did to it.

    `factor` is the constant that the model multiplied it by; it is 1 for what was `turned`, whose
    rotation may stretch. `before` and `after` are some rows of every head, as the layer wrote and
    as the call used them.
    """

    layer: LinearRun
    starts: tuple[int, ...]
    turned: bool
    before: HeadRows
    after: HeadRows
    factor: float = 1.0

    def projection(self) -> Projection:
        """The layer as a projection."""
        return self.layer.projection(self.starts, turned=self.turned, factor=self.factor)


@dataclass(frozen=True, eq=False)
class RotationGuess:
    """Those of q, k, v that are guessed to be rotated, before and after, head by head."""

    names: tuple[str, ...]
    before: HeadRows
    after: HeadRows
    tolerance: float


class ValueSearch:
    """Searches the layers of one model while it is recorded, and remembers where they were."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}  # counted from the newest layer, −1
        self._starts: dict[str, tuple[int, ...]] = {}  # of rotated heads
        self._rotation: rotary.Rotation | None = None
        self._misses: dict[str, int] = {}

    def makers(
        self, recent: Sequence[LinearRun], tensors: dict[str, Tensor], n_token: int
    ) -> tuple[dict[str, LayerMatch], RotationGuess | None]:
        """The layers that made those of q, k, v that are given, by their newest tokens.

        Rotations are a guess: they count unless `disproved` returns it.
        """
        matches: dict[str, LayerMatch] = {}
        for name, tensor in tensors.items():
            if self._misses.get(name, 0) >= MAX_MISSES:
                continue
            match = self._match(name, tensor, recent, n_token, matches.get("q"))
            self._misses[name] = 0 if match else self._misses.get(name, 0) + 1
            if match:
                matches[name] = match
        return matches, _guess(matches, tensors)

    def disproved(self, guesses: Sequence[RotationGuess]) -> list[RotationGuess]:
        """The guesses that no rotation explains; those of one pass rotate alike as a rule."""
        if not guesses or self._are_rotations(guesses):
            return []
        return [guess for guess in guesses if not self._are_rotations([guess])]

    def _are_rotations(self, guesses: Sequence[RotationGuess]) -> bool:
        """True if one rotation explains all of them."""
        if len({guess.before.shape[1:] for guess in guesses}) > 1:
            return False
        before = np.concatenate([guess.before for guess in guesses])
        after = np.concatenate([guess.after for guess in guesses])
        return rotary.find(before, after, guesses[0].tolerance, self._rotation) is not None

    def _match(
        self,
        name: str,
        tensor: Tensor,
        recent: Sequence[LinearRun],
        n_token: int,
        q: LayerMatch | None,
    ) -> LayerMatch | None:
        """The layer that made a tensor, by the newest `n_token` rows that it wrote, or by all.

        A layer wrote all rows if keys of cross-attention are copied into a cache; these are never
        rotated.
        """
        n_batch, _, n_all, width = tensor.shape
        sampled = {n: _sampled(tensor[0], n) for n in {n_token, n_all} if n <= n_all}
        for place in self._order(name, len(recent)):
            layer = recent[len(recent) + place]
            n_row, n_written, n_column = layer.output.shape
            if n_row != n_batch or n_written not in sampled or n_column % width:
                continue
            after = sampled[n_written]
            if n_written == n_token:
                match = self._newest_match(name, layer, after, q, tensor)
            else:
                match = _scaled(layer, _blocks(layer.output[0], width), after, tensor)
            if match is not None:
                self._places[name] = place
                return match
        return None

    def _order(self, name: str, n_layer: int) -> Iterable[int]:
        """The places to search: the one of the last match, then from the newest layer back."""
        places: Iterable[int] = range(-1, -n_layer - 1, -1)
        last = self._places.get(name)
        return places if last is None or -last > n_layer else [last, *places]

    def _newest_match(
        self, name: str, layer: LinearRun, after: HeadRows, q: LayerMatch | None, tensor: Tensor
    ) -> LayerMatch | None:
        """The match of a layer with the newest rows of a tensor: known, scaled or rotated."""
        d_head = after.shape[2]
        blocks = _blocks(layer.output[0], d_head)
        known = self._starts.get(name)
        if known is not None and known[-1] < layer.output.shape[2] and len(known) == len(after):
            before = blocks[[start // d_head for start in known]]
            return LayerMatch(layer, known, True, before, after)
        scaled = _scaled(layer, blocks, after, tensor)
        if scaled is not None or name == "v":
            return scaled
        match = _rotated(layer, blocks, after, type_tolerance(tensor.dtype))
        if match is None or not self._is_rotation(match, q, type_tolerance(tensor.dtype)):
            return None
        self._starts[name] = match.starts
        return match

    def _is_rotation(self, match: LayerMatch, q: LayerMatch | None, tolerance: float) -> bool:
        """True if a rotation explains the match; k has to rotate like a q that rotated."""
        parts = [match] if q is None or not q.turned else [q, match]
        before = np.concatenate([part.before for part in parts])
        after = np.concatenate([part.after for part in parts])
        rotation = rotary.find(before, after, tolerance, self._rotation)
        self._rotation = rotation or self._rotation
        return rotation is not None


def _scaled(
    layer: LinearRun, blocks: BlockRows, after: HeadRows, tensor: Tensor
) -> LayerMatch | None:
    """The match of a layer whose columns were copied, or multiplied by one number."""
    multiple = scale.find(blocks, after, tensor.dtype)
    if multiple is None or not scale.holds(multiple, layer.output, tensor):
        return None
    starts = tuple(block * after.shape[2] for block in multiple.order)
    before = blocks[list(multiple.order)]
    return LayerMatch(layer, starts, False, before, after, multiple.factor)


def _rotated(
    layer: LinearRun, blocks: BlockRows, after: HeadRows, tolerance: float
) -> LayerMatch | None:
    """The match of a layer with a block of columns as long as each head; None if one has none."""
    order = _blocks_by_length(blocks, after, tolerance)
    if order is None:
        return None
    starts = tuple(block * after.shape[2] for block in order)
    return LayerMatch(layer, starts, True, blocks[order], after)


def _guess(matches: dict[str, LayerMatch], tensors: dict[str, Tensor]) -> RotationGuess | None:
    """All matches by rotation as one guess; None if there are none."""
    rotated = {name: match for name, match in matches.items() if match.turned}
    if not rotated:
        return None
    return RotationGuess(
        names=tuple(rotated),
        before=np.concatenate([match.before for match in rotated.values()]),
        after=np.concatenate([match.after for match in rotated.values()]),
        # relative to the largest number here; measured 3e-7 in float32, 8e-3 in bfloat16
        tolerance=type_tolerance(next(iter(tensors.values())).dtype),
    )


def _sampled(tensor: Tensor, n_token: int) -> HeadRows:
    """Some of the newest tokens of every head, the last one among them."""
    step = math.ceil(n_token / COMPARED_ROWS)
    first = tensor.shape[1] - n_token + (n_token - 1) % step
    newest = tensor.detach()[:, first::step]
    copied = torch.empty(newest.shape, dtype=torch.float32).copy_(newest)  # the rest can be freed
    rows: HeadRows = copied.numpy()
    return rows


def _blocks(output: Tensor, d_head: int) -> BlockRows:
    """The same tokens of a layer's output [token, column], cut into blocks as wide as a head."""
    rows = _sampled(output[None], len(output))[0]
    blocks: BlockRows = rows.reshape(len(rows), -1, d_head).swapaxes(0, 1)
    return blocks


def _blocks_by_length(blocks: BlockRows, after: HeadRows, tolerance: float) -> list[int] | None:
    """The block of columns that is as long as each head; None unless each head has its own.

    A layer that is as wide as all heads together has them in their order.
    """
    if len(blocks) == len(after):
        return list(range(len(after)))
    if len(blocks) < len(after):
        return None
    lengths = rotary.squares(after)
    difference = np.abs(rotary.squares(blocks)[None] - lengths[:, None]).max(axis=-1)
    nearest: list[int] = difference.argmin(axis=1).tolist()
    limit = LENGTH_TOLERANCES * tolerance * lengths.max()
    is_near = bool(difference.min(axis=1).max() <= limit)
    return nearest if is_near and len(set(nearest)) == len(nearest) else None
