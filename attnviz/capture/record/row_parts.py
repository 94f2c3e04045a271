"""Tensors that are some rows of another one, told by the operations that took them out of it.

In: every operation of a recorded model. Out: of which rows of which tensor an operand was made: by
views, copies, operations on each number by itself, a rotation of halves, and layers, none of which
moves a row. Rows are told by the axis that was cut, never by lengths, and an axis of columns is
none of rows. No tensor is kept.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef

from attnviz.capture.record.operations import LOG_SOFTMAX, SOFTMAX
from attnviz.capture.record.origins import CAT, Origins, carried_axes, joined_axis

aten = torch.ops.aten

# the operation, and which of its arguments is the axis
CUTTING = {aten.slice.Tensor: 1, aten.split.Tensor: 2, aten.split_with_sizes.default: 2}
CHOOSING = aten.select.int
INDEXING = frozenset({aten.index.Tensor, aten.index_select.default})
BEGINNING = INDEXING | CUTTING.keys()
COPYING = frozenset({aten.clone.default, aten._to_copy.default, *SOFTMAX, *LOG_SOFTMAX})
NORMING = frozenset({aten.native_layer_norm.default, aten._fused_rms_norm.default})
SUMMING = frozenset({aten.sum.dim_IntList, aten.mean.dim})
COPIED_INTO = aten.copy_.default
MAX_KNOWN = 1024
NO_PLACE = -1  # where rows begin of which nothing shows which they are

_Place = tuple[int, int]  # a memory, and where in it a tensor begins


@dataclass(frozen=True)
class RowPart:
    """Rows `start` to `stop` of the `n_row` of a tensor, `stride` numbers apart where they lie now.

    `source` tells that tensor and the layers since from all others, `within` the columns that were
    taken out of the rows. Rows of a matrix are `is_flat`: they may be those of several texts.
    """

    source: tuple[object, ...]
    n_row: int
    start: int
    stop: int
    stride: int
    within: tuple[int, ...] = ()
    is_flat: bool = False

    @property
    def is_placed(self) -> bool:
        """True unless nothing shows which rows these are."""
        return self.start != NO_PLACE

    @property
    def count(self) -> int:
        """The number of rows."""
        return self.stop - self.start

    @property
    def family(self) -> tuple[object, ...]:
        """A key that all parts of one tensor share."""
        return *self.source, self.n_row, *self.within

    def runs_along(self, tensor: Tensor, axis: int) -> bool:
        """True if an axis of a tensor that begins there has these rows."""
        is_step = self.count == 1 or tensor.stride(axis) == self.stride
        return tensor.shape[axis] == self.count and is_step

    def is_like(self, other: "RowPart") -> bool:
        """True for the same rows of the same tensor, whatever columns were taken."""
        ours = self.source, self.n_row, self.start, self.stop
        return ours == (other.source, other.n_row, other.start, other.stop)


class RowParts:
    """The parts that one thread took of the rows of its tensors."""

    def __init__(self, origins: Origins) -> None:
        self._origins = origins
        self._known: dict[_Place, tuple[StorageWeakRef, tuple[RowPart, ...]]] = {}

    def clear(self) -> None:
        """Forget all parts."""
        self._known.clear()

    def along(self, tensor: Tensor, axis: int) -> RowPart | None:
        """The rows that an axis of a tensor has of another one; None if no part is known."""
        parts = (part for part in self._of(tensor) if part.runs_along(tensor, axis))
        return next((part for part in parts if part.count < part.n_row), None)

    def follow(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], out: Any) -> None:
        """Follow an operation that is no product."""
        if not self._known and func not in BEGINNING:
            return
        if func is CHOOSING:
            self._narrow(args[0], (out,))
        elif func in CUTTING:
            place = CUTTING[func]
            axis = args[place] if len(args) > place else kwargs.get("dim", 0)
            self._cut(args[0], axis, out if isinstance(out, list | tuple) else (out,))
        elif func in INDEXING:
            self._index(args, out)
        elif not func.is_view:
            self._follow_numbers(func, args, kwargs, out)

    def _follow_numbers(
        self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], out: Any
    ) -> None:
        """Follow an operation that computes or copies numbers and moves no row."""
        if func in NORMING:
            self._carry(args[:1], out[0])
        elif func is COPIED_INTO:
            self._forget(out)
            self._carry(args[1:2], out)
        elif func is CAT:
            self._join(args[0], joined_axis(args, kwargs, out), out)
        elif func in SUMMING:
            self._carry_along(args[0], carried_axes(func, args, kwargs, args[0], out), out)
        elif isinstance(out, Tensor):
            if func in COPYING or torch.Tag.pointwise in func.tags:
                self._carry(args, out)

    def follow_layer(self, read: Tensor, weight: Tensor, out: Tensor) -> None:
        """Give what a layer wrote, [row, column], the rows of what it read."""
        if not self._known or read.dim() != out.dim():
            return
        owner, step = _owner(weight), int(read.stride(-2))
        for part in self._of(read):
            if owner is not None and step and part.stride % step == 0:
                source = (*part.source, owner, int(weight.storage_offset()))
                stride = part.stride // step * int(out.stride(-2))
                self._add(out, replace(part, source=source, stride=stride))

    def _cut(self, whole: Tensor, axis: int, parts: Iterable[Tensor]) -> None:
        if not whole.dim() or not whole.stride(axis) or self._origins.is_of_columns(whole, axis):
            self._narrow(whole, parts)
            return
        owner, step = _owner(whole), int(whole.stride(axis))
        known = [part for part in self._of(whole) if part.runs_along(whole, axis)]
        if owner is None or (whole.shape[axis] == 1 and not known):
            return
        source, n_row = (owner, int(whole.storage_offset())), whole.shape[axis]
        base = RowPart(source, n_row, 0, 0, step, is_flat=whole.dim() == 2)
        base = known[0] if known else base
        for part in parts:
            start = base.start + (part.storage_offset() - whole.storage_offset()) // step
            count = part.shape[axis]
            # one text of a batch may be cut out as one row is
            is_clear = count > 1 or axis % whole.dim() > 0
            if is_clear and part.stride(axis) == step and 0 < count < whole.shape[axis]:
                self._add(part, replace(base, start=start, stop=start + count))
        self._narrow(whole, parts)

    def _narrow(self, whole: Tensor, parts: Iterable[Tensor]) -> None:
        """Keep the rows of a tensor for some of its columns."""
        for known in self._of(whole):
            if not any(known.runs_along(whole, n) for n in range(whole.dim())):
                continue  # of other rows that begin at the same place
            for part in parts:
                at = part.storage_offset() - whole.storage_offset()
                along = [n for n in range(part.dim()) if known.runs_along(part, n)]
                if at and along:
                    self._add(part, replace(known, within=(*known.within, int(at))))

    def _index(self, args: tuple[Any, ...], out: Tensor) -> None:
        """Take rows that were chosen by their numbers, if these follow one upon the other."""
        whole, *rest = args
        if isinstance(rest[0], int):
            axis, chosen = rest[0] % max(whole.dim(), 1), rest[1]
        else:
            given = [n for n, index in enumerate(rest[0]) if index is not None]
            axis, chosen = given[0], rest[0][given[0]]
            if len(given) > 1:
                return
        if chosen.dtype != torch.int64 or chosen.dim() != 1 or len(chosen) < 2:
            return
        start = int(chosen[0])
        if not 0 <= start <= whole.shape[axis] - len(chosen):
            return
        if torch.equal(chosen, torch.arange(start, start + len(chosen), device=chosen.device)):
            part = whole.narrow(axis, start, len(chosen))
            self._cut(whole, axis, (part,))
            self._carry((part,), out)

    def _carry(self, read: Iterable[Any], out: Tensor) -> None:
        """Give a result the rows of what an operation read number by number.

        Where that is spread over one another, as all pairs of q and k are, an axis that one tensor
        alone has keeps its rows.
        """
        tensors = [tensor for tensor in read if isinstance(tensor, Tensor)]
        if any(_owner(tensor) == _owner(out) for tensor in tensors):
            return
        whole = [tensor for tensor in tensors if tensor.shape == out.shape]
        if whole:
            self._agree(whole, [self._of(tensor) for tensor in whole], out)
        for tensor in tensors:
            if tensor.shape == out.shape:
                continue
            moved = out.dim() - tensor.dim()
            others = [other for other in tensors if other is not tensor]
            own = (
                (axis, axis + moved)
                for axis in range(tensor.dim())
                if all(_size(other, axis + moved - out.dim()) == 1 for other in others)
            )
            self._carry_along(tensor, own, out)

    def _carry_along(self, read: Tensor, axes: Iterable[tuple[int, int]], out: Tensor) -> None:
        """Give a result the rows along those axes of what was read that it still has."""
        pairs = list(axes)
        for part in self._of(read):
            for before, after in pairs:
                if part.runs_along(read, before) and out.shape[after] == part.count:
                    self._add(out, replace(part, stride=int(out.stride(after))))

    def _join(self, read: Iterable[Tensor], axis: int, out: Tensor) -> None:
        """Give halves of columns that were turned side by side the rows of both."""
        tensors = list(read)
        lengths = {(*t.shape[:axis], *t.shape[axis + 1 :]) for t in tensors}
        if len(lengths) == 1:
            self._agree(tensors, [self._of(tensor) for tensor in tensors], out, axis)

    def _agree(
        self,
        read: list[Tensor],
        known: list[tuple[RowPart, ...]],
        out: Tensor,
        joined: int | None = None,
    ) -> None:
        """Keep the rows that all of what was read has."""
        first, *others = known
        for part in first:
            if not all(any(part.is_like(own) for own in other) for other in others):
                continue
            axes = (n for n in range(out.dim()) if n != joined and part.runs_along(read[0], n))
            axis = next(axes, None)
            if axis is not None:
                within = part.within if len(read) == 1 else ()
                self._add(out, replace(part, stride=out.stride(axis), within=within))

    def _of(self, tensor: Tensor) -> tuple[RowPart, ...]:
        """The parts that begin where a tensor begins."""
        place = _place(tensor)
        return self._known[place][1] if place is not None and place in self._known else ()

    def _forget(self, tensor: Tensor) -> None:
        place = _place(tensor)
        if place is not None:
            self._known.pop(place, None)

    def _add(self, tensor: Tensor, part: RowPart) -> None:
        place, owner = _place(tensor), _owner(tensor)
        if place is None or owner is None:
            return
        while len(self._known) >= MAX_KNOWN:
            del self._known[next(iter(self._known))]
        before = self._of(tensor)
        if part not in before:
            self._known[place] = owner, (*before, part)


def _size(tensor: Tensor, axis: int) -> int:
    """The length of an axis, counted from the last one; 1 for one that a tensor does not have."""
    return tensor.shape[axis] if -axis <= tensor.dim() else 1


def _owner(tensor: Tensor) -> StorageWeakRef | None:
    """A mark of a tensor's memory, which no other memory has while this one is remembered."""
    with suppress(NotImplementedError, RuntimeError):
        return StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call]
    return None


def _place(tensor: Tensor) -> _Place | None:
    with suppress(NotImplementedError, RuntimeError):
        return int(tensor.untyped_storage()._cdata), int(tensor.storage_offset())
    return None
