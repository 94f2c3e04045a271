"""The bytes of a safetensors file whose arrays all start at multiples of 64 bytes.

In: flat arrays and metadata. Out: the header and the arrays, piece by piece. A product of matrices
depends in its last digit on how its factors lie in memory; aligned as torch aligns them, a capture
that is read from a file gives the very numbers of the one that was saved. The format is that of
the safetensors library, which reads it; its own writer aligns to 8 bytes.
"""

import json
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from attnviz.errors import BadInput

ALIGNMENT = 64
TYPES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.bool: "BOOL",
}


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
