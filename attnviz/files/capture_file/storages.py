"""Tensors that share memory, kept once: flat arrays, and views that say where each tensor lies.

q, k and v are often views of the one array that their layer wrote, and what W_O read is the output
of the attention. Safetensors would refuse or copy such tensors. In: named tensors. Out: one flat
array for each stretch of memory that they cover, and a `TensorView` for each name; and back.

`chunks` gives the bytes of a safetensors file of such arrays, all of which start at multiples of 64
bytes. A product of matrices depends in its last digit on how its factors lie in memory; aligned as
torch aligns them, a capture that is read from a file gives the very numbers of the one that was
saved. The format is that of the safetensors library, which reads it; its own writer aligns to 8.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from attnviz.errors import BadInput
from attnviz.notation.json_fields import Field, Malformed

ALIGNMENT = 64
TYPES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.bool: "BOOL",
}
SPARSE = 2  # a stretch that is more than so many times its views is not kept whole
MAX_DIMENSIONS = 5


@dataclass(frozen=True)
class TensorView:
    """A tensor inside a flat array, counted in elements."""

    array: str
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]

    @property
    def stop(self) -> int:
        """The first element behind the view."""
        return self.offset + extent(self.shape, self.stride)

    def as_json(self) -> list[object]:
        return [self.array, self.offset, list(self.shape), list(self.stride)]


class Packed(NamedTuple):
    """Flat arrays by name, and the view that each tensor is of one of them."""

    arrays: dict[str, Tensor]
    views: dict[str, TensorView]


def pack(tensors: Mapping[str, Tensor], dtypes: Mapping[str, torch.dtype]) -> Packed:
    """Every tensor as a view of flat arrays on the CPU; `dtypes` names those to be converted.

    Raises `BadInput` where a number is too large for the type that it is converted to.
    """
    arrays: dict[str, Tensor] = {}
    views: dict[str, TensorView] = {}
    for group in _sharing(tensors, dtypes):
        for stretch in _stretches(group, tensors):
            array = f"s{len(arrays)}"
            whole, offsets = _cut(stretch, tensors)
            arrays[array] = _converted(whole, dtypes.get(stretch[0]), stretch[0])
            for name, (offset, stride) in offsets.items():
                views[name] = TensorView(array, offset, tuple(tensors[name].shape), stride)
    return Packed(arrays, views)


def _sharing(
    tensors: Mapping[str, Tensor], dtypes: Mapping[str, torch.dtype]
) -> Iterable[list[str]]:
    """The names of tensors that lie in the same memory and become the same type."""
    groups: defaultdict[object, list[str]] = defaultdict(list)
    for name, tensor in tensors.items():
        memory = tensor.untyped_storage().data_ptr() if tensor.numel() else name
        groups[memory, tensor.device, tensor.dtype, dtypes.get(name)].append(name)
    return groups.values()


def _stretches(names: list[str], tensors: Mapping[str, Tensor]) -> list[list[str]]:
    """The names, joined where their memory overlaps; alone where most between them is unused."""
    stretches: list[list[str]] = []
    stop = -1
    for name in sorted(names, key=lambda name: tensors[name].storage_offset()):
        start, end = _span(tensors[name])
        if start >= stop:
            stretches.append([])
        stretches[-1].append(name)
        stop = max(stop, end)
    return [
        part
        for stretch in stretches
        for part in ([stretch] if _dense(stretch, tensors) else [[name] for name in stretch])
    ]


def _dense(stretch: list[str], tensors: Mapping[str, Tensor]) -> bool:
    """True if tensors use at least half of the memory between the first and the last of them."""
    spans = [_span(tensors[name]) for name in stretch]
    length = max(end for _, end in spans) - min(start for start, _ in spans)
    used = sum(_extent_used(tensors[name]) for name in stretch)
    return length <= SPARSE * used


def _cut(
    stretch: list[str], tensors: Mapping[str, Tensor]
) -> tuple[Tensor, dict[str, tuple[int, tuple[int, ...]]]]:
    """A flat copy of the memory, and where each tensor starts in it, with its strides."""
    first = tensors[stretch[0]].detach()
    if len(stretch) == 1 and not _dense(stretch, tensors):
        own = first.contiguous()
        return own.flatten(), {stretch[0]: (0, own.stride())}
    spans = {name: _span(tensors[name]) for name in stretch}
    start = aligned_start(min(begin for begin, _ in spans.values()), first.element_size())
    stop = max(end for _, end in spans.values())
    whole = first.as_strided((stop - start,), (1,), start)
    return whole, {name: (span[0] - start, tensors[name].stride()) for name, span in spans.items()}


def _span(tensor: Tensor) -> tuple[int, int]:
    """The first element of the memory that a tensor uses, and the one behind its last."""
    start = int(tensor.storage_offset())
    return start, start + extent(tuple(tensor.shape), tensor.stride())


def extent(shape: tuple[int, ...], stride: tuple[int, ...]) -> int:
    """The number of elements of memory from the first to the last of a view, both included."""
    if 0 in shape:
        return 0
    return 1 + sum((count - 1) * step for count, step in zip(shape, stride, strict=True))


def _extent_used(tensor: Tensor) -> int:
    """The number of elements of memory that a tensor uses; repeats by a stride of 0 count once."""
    used = 1
    for count, step in zip(tensor.shape, tensor.stride(), strict=True):
        used *= count if step else min(count, 1)
    return used


def _converted(whole: Tensor, dtype: torch.dtype | None, name: str) -> Tensor:
    """A copy on the CPU, in another type where one is asked for."""
    copy = whole.to(device="cpu", dtype=dtype, copy=True)
    if dtype is not None and bool((copy.isinf() & ~whole.to("cpu").isinf()).any()):
        largest = float(whole.abs().max())
        raise BadInput(
            f"{name} has numbers up to {largest:.3g}, too large for {dtype}; save it with"
            " dtype='bfloat16', or without dtype",
            code="too_large_for_dtype",
            dtype=str(dtype).removeprefix("torch."),
            largest=f"{largest:.3g}",
        )
    return copy


class Unpacker:
    """The tensors of a file by name, each view checked against the array that it lies in."""

    def __init__(self, views: Field, load: Callable[[str], Tensor]) -> None:
        self._views = {name: _view(field) for name, field in views.entries().items()}
        self._load = load
        self._arrays: dict[str, Tensor] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._views

    @property
    def names(self) -> frozenset[str]:
        """The names that the file has tensors for."""
        return frozenset(self._views)

    def take(self, name: str) -> Tensor:
        """The tensor of this name; `Malformed` without one."""
        view = self._views.get(name)
        if view is None:
            raise Malformed(f"it has no tensor {name}")
        whole = self._array(view.array)
        if view.stop > whole.numel() or view.offset > whole.numel():
            raise Malformed(
                f"tensor {name} ends at element {view.stop} of {view.array:.60}, which has"
                f" {whole.numel()}"
            )
        return whole.as_strided(view.shape, view.stride, view.offset)

    def _array(self, name: str) -> Tensor:
        if name not in self._arrays:
            whole = self._load(name)
            if whole.dim() != 1:
                raise Malformed(f"array {name:.60} has {whole.dim()} dimensions; it must have 1")
            self._arrays[name] = whole
        return self._arrays[name]


def _view(field: Field) -> TensorView:
    array, offset, shape, stride = field.rows(4)
    counts = tuple(count.whole() for count in shape.rows())
    steps = tuple(step.whole() for step in stride.rows(len(counts)))
    if len(counts) > MAX_DIMENSIONS:
        field.refuse(f"of at most {MAX_DIMENSIONS} dimensions")
    return TensorView(array.text(), offset.whole(), counts, steps)


def aligned_start(start: int, item_bytes: int) -> int:
    """The last element up to `start` that lies at a multiple of 64 bytes."""
    return start - start % (ALIGNMENT // item_bytes)


def chunks(arrays: Mapping[str, Tensor], metadata: Mapping[str, str]) -> Iterator[bytes]:
    """The file, from its header to its last array; every array is filled up with zeros."""
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    end = 0
    for name, array in arrays.items():
        start, end = end, end + _padded(array.nbytes)
        count = (end - start) // array.element_size()
        offsets = [start, end]
        header[name] = {"dtype": _type(array), "shape": [count], "data_offsets": offsets}
    text = json.dumps(header, separators=(",", ":")).encode()
    text = text.ljust(_padded(8 + len(text)) - 8)
    yield len(text).to_bytes(8, "little") + text
    for array in arrays.values():
        yield array.view(torch.uint8).numpy().tobytes()
        yield b"\0" * (_padded(array.nbytes) - array.nbytes)


def _padded(length: int) -> int:
    return -(-length // ALIGNMENT) * ALIGNMENT


def _type(array: Tensor) -> str:
    if array.dtype not in TYPES:
        type_name = str(array.dtype).removeprefix("torch.")
        allowed = ", ".join(str(dtype).removeprefix("torch.") for dtype in TYPES)
        raise BadInput(
            f"a capture file keeps numbers of the types {allowed}, and this capture has"
            f" {type_name}",
            code="bad_dtype",
            asked=type_name,
            allowed=allowed,
        )
    return TYPES[array.dtype]
