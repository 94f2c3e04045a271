"""The numbers of a page: every array once, however many views show it.

In: packed buffers of components. Out: an index of their headers and arrays, and one byte string. An
array with the same bytes as another one is kept once, and so are texts; the 8-bit codes of Overview
are those of Head divided by 257 and rounded, and are made in the browser if that holds for each; so
are scaled scores, which are the scores times one number.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attnviz.components.buffer import pack
from attnviz.errors import TooLarge

MOST_BYTES = 64 * 2**20
COARSER = 257  # 65,535 ÷ 255: the step between codes of 16 bits and of 8
LEAST_MULTIPLE_BYTES = 4096  # in smaller arrays there is nothing to save


@dataclass
class Store:
    """Arrays by a short name each, found by their content; `n_bytes` counts each once.

    `floats` names the larger arrays of 32-bit floats among them.
    """

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    names: dict[bytes, str] = field(default_factory=dict)
    texts: dict[str, Mapping[str, str]] = field(default_factory=dict)
    floats: list[str] = field(default_factory=list)
    n_bytes: int = 0

    def add(self, data: bytes, fine: "PackedBuffer | None" = None) -> dict[str, Any]:
        """The index entry of a packed buffer; `fine` may hold its weights in 16 bits."""
        packed = PackedBuffer(data)
        texts = json.dumps(packed.header.get("strings", {}), sort_keys=True)
        name = f"t{hashlib.sha256(texts.encode()).hexdigest()[:8]}"
        self.texts[name] = packed.header.get("strings", {})
        header = {key: value for key, value in packed.header.items() if key != "strings"}
        arrays = [self._entry(packed, entry, fine) for entry in packed.entries]
        return {"header": header, "strings": name, "arrays": arrays}

    def _entry(
        self, packed: "PackedBuffer", entry: dict[str, Any], fine: "PackedBuffer | None"
    ) -> dict[str, Any]:
        kept = {key: value for key, value in entry.items() if key != "offset"}
        raw = packed.raw(entry)
        source = None if fine is None else fine.coarser(entry["name"], raw)
        if source is not None:
            return {**kept, "from": self._name(source), "coarse": 1}
        if entry["dtype"] == "f32" and raw.nbytes >= LEAST_MULTIPLE_BYTES:
            return {**kept, **self._floats(raw)}
        return {**kept, "from": self._name(raw)}

    def _floats(self, raw: np.ndarray) -> dict[str, Any]:
        """An array of floats as kept, or as the name of another one times a number."""
        for name in [] if self._has(raw) else self.floats:
            factor = multiple(self.arrays[name], raw)
            if factor is not None:
                return {"from": name, "times": factor}
        name = self._name(raw)
        if name not in self.floats:
            self.floats.append(name)
        return {"from": name}

    def _has(self, raw: np.ndarray) -> bool:
        return hashlib.sha256(raw.tobytes()).digest() in self.names

    def _name(self, raw: np.ndarray) -> str:
        """The name of an array with these bytes."""
        digest = hashlib.sha256(raw.tobytes()).digest()
        if digest not in self.names:
            self.names[digest] = f"a{len(self.names)}"
            self.arrays[self.names[digest]] = raw
            self._count(raw.nbytes)
        return self.names[digest]

    def _count(self, n_bytes: int) -> None:
        self.n_bytes += n_bytes
        if self.n_bytes > MOST_BYTES:
            size, limit = -(-self.n_bytes // 2**20), MOST_BYTES // 2**20
            raise TooLarge(
                f"the page would hold {size} MiB of numbers and the limit is {limit} MiB; give"
                " fewer heads=, or shorten the text",
                code="page_too_large",
                found=size,
                limit=limit,
                unit="MiB",
            )

    def packed(self, names: set[str]) -> bytes:
        """The arrays of these names, as `shared/buffer.js` reads them."""
        return pack({}, {name: raw for name, raw in self.arrays.items() if name in names})


def multiple(kept: np.ndarray, raw: np.ndarray) -> float | None:
    """The number that turns the floats of one array into those of the other, to the last bit."""
    if kept.nbytes != raw.nbytes:
        return None
    before, after = kept.view("<f4"), raw.view("<f4")
    largest = int(np.argmax(np.where(np.isfinite(before), np.abs(before), 0)))
    if not before[largest] or not np.isfinite(after[largest]):
        return None
    ratio = np.float32(after[largest] / before[largest])
    for factor in (ratio, np.nextafter(ratio, np.float32(0)), np.nextafter(ratio, 2 * ratio)):
        if np.array_equal((before * factor).view(np.uint32), after.view(np.uint32)):
            return float(factor)
    return None


class PackedBuffer:
    """A packed buffer: its header, the entries of its arrays, and their bytes."""

    def __init__(self, data: bytes) -> None:
        self.start = 4 + int.from_bytes(data[:4], "little")
        self.data = data
        self.header: dict[str, Any] = json.loads(data[4 : self.start])
        self.entries: list[dict[str, Any]] = self.header.pop("arrays")

    def raw(self, entry: Mapping[str, Any]) -> np.ndarray:
        """The bytes of an array, with what fills them up to a multiple of four."""
        later = [other["offset"] for other in self.entries if other["offset"] > entry["offset"]]
        stop = min(later) if later else len(self.data) - self.start
        begin = self.start + entry["offset"]
        return np.frombuffer(self.data, np.uint8, stop - entry["offset"], begin)

    def coarser(self, name: str, codes: np.ndarray) -> np.ndarray | None:
        """The bytes of the 16-bit array of this name if `codes` are all of its codes, coarser."""
        for entry in self.entries:
            if entry["name"] == name and entry["dtype"] == "u16":
                raw = self.raw(entry)
                fine = raw.view("<u2")
                coarse = ((fine.astype(np.uint32) + COARSER // 2) // COARSER).astype(np.uint8)
                return raw if np.array_equal(coarse, codes[: coarse.size]) else None
        return None
