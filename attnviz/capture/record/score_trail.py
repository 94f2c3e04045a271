"""The way from q·kᵀ to the softmax: the factor the model multiplied by, and what it added.

In: every operation between a product and the softmax of its result. Out: a `ScoreTrail` for the
memory that the scores are in. Only operations that keep every score at its place are followed: a
number times it, something added, some entries overwritten as a mask does. After any other one (a
tanh, a gather, a convolution) there is no trail, and the scores stay unexplained.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from attnviz.capture.locate.layers import NO_MEMORY, storage_of, version_of

aten = torch.ops.aten

MULTIPLIED = frozenset({aten.mul.Tensor, aten.mul_.Tensor, aten.mul.Scalar, aten.mul_.Scalar})
DIVIDED = frozenset({aten.div.Tensor, aten.div_.Tensor, aten.div.Scalar, aten.div_.Scalar})
ADDED = frozenset({aten.add.Tensor, aten.add_.Tensor})
SUBTRACTED = frozenset({aten.sub.Tensor, aten.sub_.Tensor})
# entries may be overwritten, no entry moves
KEPT = frozenset(
    {
        aten.masked_fill.Scalar,
        aten.masked_fill.Tensor,
        aten.masked_fill_.Scalar,
        aten.masked_fill_.Tensor,
        aten.where.self,
        aten.maximum.default,
        aten.clone.default,
        aten._to_copy.default,
        aten._unsafe_view.default,
        aten.detach.default,
    }
)
MAX_TRAILS = 16


@dataclass(frozen=True, eq=False)
class Addend:
    """A tensor that was added to the scores when these had a shape, and the factor since then."""

    tensor: Tensor
    shape: torch.Size
    factor: float

    def over(self, shape: tuple[int, ...]) -> Tensor:
        """The addend over scores of a shape that holds the same numbers in the same order."""
        return self.tensor.expand(self.shape).reshape(shape) * self.factor


@dataclass(frozen=True, eq=False)
class ScoreTrail:
    """scores = factor · q·kᵀ + the addends, but for the entries that a mask overwrote."""

    factor: float
    addends: tuple[Addend, ...] = ()

    def times(self, number: float) -> "ScoreTrail":
        """The trail after everything was multiplied by a number."""
        addends = (replace(part, factor=part.factor * number) for part in self.addends)
        return ScoreTrail(self.factor * number, tuple(addends))

    def plus(self, tensor: object, shape: torch.Size, factor: float) -> "ScoreTrail | None":
        """The trail after a tensor was added; None if the scores only fill a part of the result."""
        if not isinstance(tensor, Tensor):
            return None
        if any(
            size not in (1, whole)
            for size, whole in zip(tensor.shape[::-1], shape[::-1], strict=False)
        ):
            return None  # the scores are spread over more than their own shape
        return replace(self, addends=(*self.addends, Addend(tensor.detach(), shape, factor)))


@dataclass(frozen=True, eq=False)
class TrailedScores:
    """Scores that a softmax read, and how they came from q·kᵀ; `version` tells a later change in
    place.

    `tensor` is the model's own: a detached one would count no changes here.
    """

    tensor: Tensor
    trail: ScoreTrail
    version: int | None

    @property
    def is_untouched(self) -> bool:
        """True unless the tensor was changed in place after the softmax had read it."""
        return version_of(self.tensor) == self.version


class ScoreTrails:
    """The trails of the products that one thread computed last, by the memory of their results."""

    def __init__(self) -> None:
        self._by_memory: dict[int, ScoreTrail] = {}

    def of(self, tensor: Tensor) -> ScoreTrail | None:
        """The trail of a tensor; None if something unknown was done to it."""
        return self._by_memory.get(storage_of(tensor))

    def scores(self, tensor: Tensor) -> TrailedScores | None:
        """The scores that a softmax reads, with their trail; None without one."""
        trail = self.of(tensor)
        return None if trail is None else TrailedScores(tensor, trail, version_of(tensor))

    def begin(self, out: Tensor, factor: float, added: Tensor | None, beta: float) -> None:
        """Begin a trail at a product: out = beta · added + factor · q·kᵀ."""
        while len(self._by_memory) >= MAX_TRAILS:
            del self._by_memory[next(iter(self._by_memory))]
        trail = ScoreTrail(factor)
        self._set(out, trail if added is None else trail.plus(added, out.shape, beta))

    def drop(self, out: Tensor) -> None:
        """Forget the trail of a memory that something else was written to."""
        self._by_memory.pop(storage_of(out), None)

    def clear(self) -> None:
        """Forget all trails."""
        self._by_memory.clear()

    def follow(
        self, func: Any, args: Any, kwargs: Mapping[str, Any], out: Iterable[Tensor]
    ) -> None:
        """Follow an operation that is no product, no softmax and no kernel."""
        if not self._by_memory or func.is_view:
            return
        trails = [self.of(arg) if isinstance(arg, Tensor) else None for arg in args]
        n_known = sum(trail is not None for trail in trails)
        for written in out:
            trail = _after(func, args, kwargs, trails, written.shape) if n_known == 1 else None
            self._set(written, trail)

    def _set(self, out: Tensor, trail: ScoreTrail | None) -> None:
        if trail is None or storage_of(out) == NO_MEMORY:
            self.drop(out)
        else:
            self._by_memory[storage_of(out)] = trail


def _after(
    func: Any,
    args: Any,
    kwargs: Mapping[str, Any],
    trails: list[ScoreTrail | None],
    shape: torch.Size,
) -> ScoreTrail | None:
    """The trail of the result of an operation, of whose arguments one has a trail."""
    place, trail = next((n, trail) for n, trail in enumerate(trails) if trail is not None)
    if args[place].shape != shape:
        return trail if func is aten._unsafe_view.default else None
    if func in KEPT:
        return trail
    if func is aten.copy_.default:
        return trail if place == 1 else None
    if len(args) < 2:
        return None
    other = args[1 - place] if place < 2 else None
    number = _number(other)
    if func in MULTIPLIED and number is not None:
        return trail.times(number)
    if func in DIVIDED and number and place == 0:
        return trail.times(1 / number)
    alpha = float(kwargs.get("alpha", 1))
    if func in ADDED and (place == 0 or alpha == 1):
        return trail.plus(other, shape, alpha)
    if func in SUBTRACTED and place == 0:
        return trail.plus(other, shape, -alpha)
    return None


def _number(value: object) -> float | None:
    """A factor that is one number, also where it is kept in a tensor; None for any other."""
    if isinstance(value, Tensor):
        return float(value.detach()) if value.numel() == 1 else None
    return float(value) if isinstance(value, int | float) else None
