"""The products and softmaxes that a tensor was computed from by elementwise operations.

In: every operation that runs. Out: the numbers of the products and softmaxes that entered a tensor
by operations other than matrix products, and which of its axes are columns of a layer's output. A
tensor is known by its memory, so views need no care, and each result replaces what was known of its
memory before; of one without memory nothing is known. `PARAMETER` marks what was computed from the
model's parameters alone.

An axis holds columns as long as it is only carried along: a sum over it ends them, as that of q·k
written out does, whatever lengths the other axes have. An axis that nothing but parameters have is
one of columns too: a table of classes.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef

from attnviz.capture.locate.layers import NO_MEMORY, storage_of

PARAMETER = -1
ONLY_PARAMETER = frozenset({PARAMETER})
NOTHING: frozenset[int] = frozenset()
MAX_NUMBERS = 12
STACK, CAT = torch.ops.aten.stack.default, torch.ops.aten.cat.default
CDIST = torch.ops.aten._cdist_forward.default

# the stride of an axis, and that stride times its length: a view's axis that steps between the two
# runs along it
Steps = tuple[int, int]


class Origins:
    """The origins of the tensors of one thread while a model is recorded."""

    def __init__(self, parameters: Iterable[Tensor]) -> None:
        self._by_memory = dict.fromkeys(map(storage_of, parameters), ONLY_PARAMETER)
        self._by_memory.pop(NO_MEMORY, None)
        self._given = frozenset(self._by_memory)
        self._columns: dict[int, frozenset[Steps]] = {}
        self._owners: dict[int, StorageWeakRef] = {}  # of the memories of results

    def of(self, tensor: Tensor) -> frozenset[int]:
        """The numbers that entered a tensor."""
        return self._by_memory.get(self._memory(tensor), NOTHING)

    def _memory(self, tensor: Tensor) -> int:
        """The address of a tensor's memory, of which nothing is known if it was freed meanwhile.

        What the recorder itself makes comes by no operation that is seen, and may lie where a
        result of the model lay.
        """
        memory = storage_of(tensor)
        owner = self._owners.get(memory)
        if owner is not None and owner.expired():  # type: ignore[no-untyped-call]
            del self._owners[memory]
            self._by_memory.pop(memory, None)
            self._columns.pop(memory, None)
        return memory

    def _own(self, tensor: Tensor, memory: int) -> None:
        """Remember whose memory it is; a tensor that is made of others has none to ask for."""
        with suppress(NotImplementedError, RuntimeError):
            storage = tensor.untyped_storage()
            self._owners[memory] = StorageWeakRef(storage)  # type: ignore[no-untyped-call]

    def is_given(self, tensor: Tensor) -> bool:
        """True for a parameter or a buffer, and for a view of one."""
        return storage_of(tensor) in self._given

    def is_parameter(self, tensor: Tensor) -> bool:
        """True for a parameter or a buffer, and for what was computed from such alone."""
        return self.of(tensor) == ONLY_PARAMETER

    def is_of_columns(self, tensor: Tensor, axis: int) -> bool:
        """True if a layer wrote the numbers along an axis as its columns."""
        known = self._columns.get(self._memory(tensor))
        return known is not None and _runs_along(tensor, axis, known)

    def replace(self, tensor: Tensor, numbers: frozenset[int], columns: int | None = None) -> None:
        """Set what is known of a result; the axis `columns` has those of a layer."""
        memory = storage_of(tensor)
        self._columns.pop(memory, None)
        self.renumber(tensor, numbers)
        if columns is not None:
            self.add_columns(tensor, columns)

    def add_columns(self, tensor: Tensor, axis: int) -> None:
        """Let an axis of a result be one of columns too."""
        memory = storage_of(tensor)
        if memory != NO_MEMORY:
            known = self._columns.get(memory, frozenset())
            self._columns[memory] = known | {_steps(tensor, axis)}
            self._own(tensor, memory)

    def renumber(self, tensor: Tensor, numbers: frozenset[int]) -> None:
        """Set what entered a result of which the columns are known."""
        memory = storage_of(tensor)
        if numbers and memory != NO_MEMORY:
            self._by_memory[memory] = numbers
            self._own(tensor, memory)
        else:
            self._by_memory.pop(memory, None)

    def pass_on(
        self,
        func: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        read: Iterable[Tensor],
        written: Iterable[Tensor],
    ) -> None:
        """Give the results of an operation what entered its arguments."""
        read = list(read)
        parts = [self.of(tensor) for tensor in read]
        numbers = frozenset().union(*parts)
        if PARAMETER in numbers and any(part != ONLY_PARAMETER for part in parts):
            numbers -= ONLY_PARAMETER
        if len(numbers) > MAX_NUMBERS:
            numbers = frozenset(sorted(numbers)[-MAX_NUMBERS:])
        known = {
            memory: self._columns[memory]
            for memory in map(self._memory, read)
            if memory in self._columns
        }
        is_table = ONLY_PARAMETER in parts and numbers and numbers != ONLY_PARAMETER
        for tensor in written:
            memory = storage_of(tensor)
            self.replace(tensor, numbers)
            steps = set(known.get(memory, ()))  # a view, or changed in place
            if known and (memory not in known or func._schema.is_mutable):
                for source in read:
                    along = known.get(storage_of(source), frozenset())
                    steps |= {
                        _steps(tensor, after)
                        for before, after in carried_axes(func, args, kwargs, source, tensor)
                        if _runs_along(source, before, along)
                    }
            if is_table:
                computed = [
                    one for one, part in zip(read, parts, strict=True) if PARAMETER not in part
                ]
                steps |= {_steps(tensor, axis) for axis in _new_axes(computed, tensor)}
            if steps and memory != NO_MEMORY:
                self._columns[memory] = frozenset(steps)
                self._own(tensor, memory)


def _steps(tensor: Tensor, axis: int) -> Steps:
    stride = tensor.stride(axis)
    return stride, stride * tensor.shape[axis]


def _runs_along(tensor: Tensor, axis: int, columns: Iterable[Steps]) -> bool:
    """True if an axis of a view steps along columns of its memory."""
    stride = tensor.stride(axis)
    return tensor.shape[axis] > 1 and any(first <= stride < end for first, end in columns)


def _new_axes(read: Iterable[Tensor], result: Tensor) -> Iterable[int]:
    """The axes of a result along which none of what was read has more than one number."""
    longest = [1] * result.dim()
    for source in read:
        for axis in range(1, min(source.dim(), result.dim()) + 1):
            longest[-axis] = max(longest[-axis], source.shape[-axis])
    return [axis for axis, size in enumerate(longest) if size < result.shape[axis] > 1]


def carried_axes(
    func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], source: Tensor, result: Tensor
) -> Iterable[tuple[int, int]]:
    """Each axis of what an operation read with the axis of its result that it became.

    Results of another number of axes have the last ones in common, unless a sum ends an axis.
    """
    before = list(range(source.dim()))
    if func is CDIST:
        before = before[:-1]
        return zip(before[:-1], range(result.dim()), strict=False)
    names = [argument.name for argument in func._schema.arguments]
    if "keepdim" in names:  # sums, means, norms, the largest of a row
        given = dict(zip(names, args, strict=False)) | dict(kwargs)
        ended = given.get("dim")
        axes = before if ended is None else [ended] if isinstance(ended, int) else ended
        gone = {axis % max(source.dim(), 1) for axis in axes or before}
        if given.get("keepdim"):
            return [(axis, axis) for axis in before if axis not in gone]
        left = [axis for axis in before if axis not in gone]
        return zip(left, range(result.dim()), strict=False)
    after = range(result.dim())
    if func is STACK:
        added = joined_axis(args, kwargs, result)
        return zip(before, (axis for axis in after if axis != added), strict=False)
    return zip(reversed(before), reversed(after), strict=False)


def joined_axis(args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Tensor) -> int:
    """The axis of a result of `stack` or `cat` along which the parts lie."""
    axis: int = args[1] if len(args) > 1 else kwargs.get("dim", 0)
    return axis % result.dim()
