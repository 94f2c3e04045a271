"""Brings recorded calls into half precision, into main memory, or into files that are mapped.

In: recorded calls, one after another while the model runs, or at its end. Out: the same calls with
other tensors; of those that are not to be kept, the shapes alone, and of heads that alone are to be
kept, copies. In most models q, k and v are views of the outputs of their linear layers, which share
an input; each memory is converted once, and its views stay views of it, so that half precision
really takes half the memory. A file has no name once it is mapped: it is gone with the capture, and
after a crash too.
"""

import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from attnviz.attention import memory
from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs, of_heads
from attnviz.attention.stored_weights import StoredWeights
from attnviz.errors import BadInput, bad_argument

StoredType = Literal["float16"]
TYPES: dict[str, torch.dtype] = {"float16": torch.float16}
KeptCalls = Mapping[str, tuple[int, ...] | None]  # heads by the name of a call; None for all
# memories that layers share: masks, biases and the states that all of them read, as many as a
# decoder's layer has; more would be kept alive for nothing
SHARED = 8
SHARED_BIASES = 2  # those of self- and cross-attention


class Storage:
    """Where the tensors of calls are kept, and in which type.

    `store` is a name of `TYPES`, or None for the model's own type. With `offload` they are kept in
    main memory, or in files of the folder that it names. A tensor with numbers beyond the range of
    the type keeps its own. With `only` the calls that it names are kept, with the heads that it has
    for them; of other calls nothing is kept but shapes. Raises `BadInput` for another type, and for
    a folder that is none or cannot be written to.
    """

    def __init__(
        self,
        store: StoredType | None = None,
        offload: bool | str | Path = False,
        only: KeptCalls | None = None,
    ) -> None:
        self.only = only
        self._dtype = None if store is None else _dtype(store)
        self.folder = None if isinstance(offload, bool) else _folder(offload)
        self.device = "cpu" if offload is True else None
        self._shared = self._converter(most=SHARED)
        self._by_head = _SharedHeads()

    @property
    def changes_nothing(self) -> bool:
        """True if tensors stay as they are."""
        return not self._converts and self.only is None

    @property
    def _converts(self) -> bool:
        return self._dtype is not None or self.folder is not None or self.device is not None

    def nbytes(self, tensors: Iterable[Tensor]) -> int:
        """The bytes that tensors will occupy here."""
        memories = {tensor.untyped_storage().data_ptr(): tensor for tensor in tensors}
        return sum(self._nbytes(tensor) for tensor in memories.values())

    def _nbytes(self, tensor: Tensor) -> int:
        n_number = tensor.untyped_storage().nbytes() // tensor.element_size()
        return n_number * self.number_bytes(tensor)

    def number_bytes(self, tensor: Tensor) -> int:
        """The bytes that a number of a tensor will occupy here."""
        smallest = self._dtype.itemsize if self._dtype and tensor.is_floating_point() else 8
        return min(tensor.element_size(), smallest)

    def keep(self, call: AttentionCall) -> AttentionCall:
        """One call with its tensors kept here; its projections are exchanged in place."""
        (kept,) = self.keep_all([call])
        call.projections.update(kept.projections)
        return replace(kept, projections=call.projections)

    def keep_all(self, calls: Iterable[AttentionCall]) -> tuple[AttentionCall, ...]:
        """Calls with their tensors kept here; what they share they still share."""
        if self.changes_nothing:
            return tuple(calls)
        converter = self._converter()
        return tuple(self._kept(call, converter) for call in calls)

    def _kept(self, call: AttentionCall, converter: "_Converter") -> AttentionCall:
        if not self.keeps(call):
            return _emptied(call)
        heads = self.heads_of(call)
        if heads is not None:
            call = memory.with_heads(call, heads, self._by_head)
        return _converted(call, converter, self._shared) if self._converts else call

    def heads_of(self, call: AttentionCall) -> tuple[int, ...] | None:
        """The heads of a call that alone are to be kept; None for all."""
        return None if self.only is None else self.only.get(call.name)

    def keeps(self, call: AttentionCall) -> bool:
        """True unless other calls than this one are to be kept."""
        return self.only is None or call.name in self.only

    def leaves(self, call: AttentionCall) -> bool:
        """True if a call's tensors stay as they are."""
        return not self._converts and self.keeps(call) and self.heads_of(call) is None

    def moved(self, tensor: Tensor | None) -> Tensor | None:
        """A tensor of the model's answer, out of the model's device if calls are."""
        is_moved = self.device is not None or self.folder is not None
        return tensor.cpu() if is_moved and tensor is not None else tensor

    def _converter(self, most: int | None = None) -> "_Converter":
        return _Converter(self._dtype, self.device, self.folder, most)


def _dtype(store: object) -> torch.dtype:
    if store not in TYPES:
        raise BadInput(
            f"store= is {store!r}; give {' or '.join(map(repr, TYPES))}, or leave it out to keep"
            " the model's own type",
            code="bad_dtype",
            asked=str(store),
            allowed=", ".join(TYPES),
        )
    return TYPES[str(store)]


def _folder(path: str | Path) -> Path:
    folder = Path(path)
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise bad_argument(
            f"offload={folder.name!r} is no folder that can be written to; name one on a disk with"
            " room, or give True for main memory",
            name="offload",
            found=folder.name,
            allowed="True, False, a folder",
        )
    return folder


class _SharedHeads:
    """Takes some heads of a mask or bias; layers that share it share what is taken."""

    def __init__(self) -> None:
        # the whole tensors are kept too, so that no address is used twice
        self._taken: dict[tuple[object, ...], tuple[Tensor, Tensor]] = {}

    def __call__(self, tensor: Tensor, heads: tuple[int, ...]) -> Tensor:
        key = tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, heads
        known = self._taken.pop(key, None) or (tensor, of_heads(tensor, heads))
        if known[1] is not tensor:
            self._taken[key] = known
        if len(self._taken) > SHARED_BIASES:
            del self._taken[next(iter(self._taken))]
        return known[1]


class _Converter:
    """Converts tensors; views of one memory become views of one converted memory.

    With `most` only the memories that were asked for last are known again.
    """

    def __init__(
        self, dtype: torch.dtype | None, device: str | None, folder: Path | None, most: int | None
    ) -> None:
        self._dtype, self._device, self._folder, self._most = dtype, device, folder, most
        # the tensors before the conversion are kept too, so that no address is used twice
        self._memories: dict[tuple[int, torch.dtype], tuple[Tensor, Tensor]] = {}

    def __call__(self, tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        place = storage.data_ptr(), tensor.dtype
        known = self._memories.pop(place, None)
        if known is None:
            n_entry = storage.nbytes() // tensor.element_size()
            whole = tensor.as_strided((n_entry,), (1,), 0)
            known = whole, self._whole(whole)
        self._memories[place] = known
        if self._most is not None and len(self._memories) > self._most:
            del self._memories[next(iter(self._memories))]
        _, whole = known
        return whole.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())

    def _whole(self, whole: Tensor) -> Tensor:
        moved = whole.to(device=self._device)
        if self._dtype is not None and whole.is_floating_point() and whole.element_size() > 2:
            smaller = moved.to(self._dtype)
            overflows = smaller.isinf().sum() > moved.isinf().sum()
            moved = moved if bool(overflows) else smaller
        return moved if self._folder is None else _in_file(moved, self._folder)


def _in_file(whole: Tensor, folder: Path) -> Tensor:
    """A copy of a tensor in a mapped file, which loses its name at once."""
    if not whole.numel():
        return whole.cpu()
    handle, name = tempfile.mkstemp(prefix="attnviz-", dir=folder)
    try:
        if hasattr(os, "posix_fallocate"):
            # a file with holes would end the process where the disk is full
            os.posix_fallocate(handle, 0, whole.nbytes)
        mapped = torch.from_file(name, shared=True, size=whole.numel(), dtype=whole.dtype)
    finally:
        os.close(handle)
        with suppress(PermissionError):  # of Windows, while it is mapped
            Path(name).unlink()
    return mapped.copy_(whole)


def _emptied(call: AttentionCall) -> AttentionCall:
    """The call without its numbers: tensors of torch's device "meta" have a shape alone."""
    shapes = _Converter(None, "meta", None, None)
    return _converted(call, shapes, shapes)


def _converted(call: AttentionCall, converter: _Converter, shared: _Converter) -> AttentionCall:
    """The call with all its tensors converted; the weights of its layers stay with the model."""
    projections = {}
    for name, layer in call.projections.items():
        # W_O reads the call's own output, the others what several layers may read
        read = (converter if name == "out" else shared)(layer.input)
        projections[name] = replace(layer, input=read, output=converter(layer.output))
    inputs = _converted_inputs(call.inputs, converter, shared)
    return replace(call, inputs=inputs, output=converter(call.output), projections=projections)


def _converted_inputs(
    inputs: AttentionInputs | StoredWeights, converter: _Converter, shared: _Converter
) -> AttentionInputs | StoredWeights:
    def optional(tensor: Tensor | None, convert: _Converter = converter) -> Tensor | None:
        return None if tensor is None else convert(tensor)

    if isinstance(inputs, StoredWeights):
        return replace(
            inputs,
            kept=converter(inputs.kept),
            query=optional(inputs.query),
            key=optional(inputs.key),
            value=optional(inputs.value),
        )
    return replace(
        inputs,
        query=converter(inputs.query),
        key=converter(inputs.key),
        value=converter(inputs.value),
        mask=optional(inputs.mask, shared),
        bias=optional(inputs.bias, shared),
        sinks=optional(inputs.sinks),
        versions=None,
    )
