"""The numbers of a page: every array once, however many views show it.

In: packed buffers of components. Out: an index of their headers and arrays, and one byte string. An
array with the same bytes as another one is kept once, and so are texts; the 8-bit codes of Overview
are those of Head divided by 257 and rounded, and are made in the browser if that holds for each; so
are scaled scores, which are the scores times one number, and what `rebuilt` knows the way to.
"""

import hashlib
import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attnviz.errors import TooLarge
from attnviz.files.page.rebuilt import rebuilt_stage
from attnviz.pictures.shared.buffer import ALIGNMENT, DTYPES, pack
from attnviz.types import MIB

MAX_BYTES = 64 * MIB
COARSER = 257  # 65,535 ÷ 255: the step between codes of 16 bits and of 8
MIN_BYTES = 4096  # in smaller arrays there is nothing to save
Source = dict[
    str, Any
]  # an array's bytes: the array "from" that has them, perhaps "times" a number


@dataclass
class Store:
    """Arrays by a short name each, found by their content; `n_bytes` counts each once.

    `rebuilt` has how to make arrays that are not kept, by their name; `sources` where the bytes of
    each array are, by their digest.
    """

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    rebuilt: dict[str, dict[str, Any]] = field(default_factory=dict)
    sources: dict[bytes, Source] = field(default_factory=dict)
    texts: dict[str, Mapping[str, str]] = field(default_factory=dict)
    n_bytes: int = 0

    def add(self, data: bytes, fine: "PackedBuffer | None" = None) -> dict[str, Any]:
        """The index entry of a packed buffer; `fine` may hold its weights in 16 bits."""
        packed = PackedBuffer(data)
        texts = json.dumps(packed.header.get("strings", {}), sort_keys=True)
        name = f"t{hashlib.sha256(texts.encode()).hexdigest()[:8]}"
        self.texts[name] = packed.header.get("strings", {})
        header = {key: value for key, value in packed.header.items() if key != "strings"}
        sources: dict[str, Source] = {}
        for entry in sorted(packed.entries, key=lambda entry: bool(entry["dtype"] == "f32")):
            sources[entry["name"]] = self._source(packed, entry, fine, sources)
        arrays = [
            {key: value for key, value in entry.items() if key != "offset"} | sources[entry["name"]]
            for entry in packed.entries
        ]
        return {"header": header, "strings": name, "arrays": arrays}

    def _source(
        self,
        packed: "PackedBuffer",
        entry: dict[str, Any],
        fine: "PackedBuffer | None",
        before: Mapping[str, Source],
    ) -> Source:
        """Where an array's bytes are; `before` has those of the same buffer's earlier arrays."""
        raw = packed.raw(entry)
        codes = None if fine is None else fine.coarser(entry["name"], raw)
        if codes is not None:
            return {**self._kept(codes), "coarse": 1}
        digest = _digest(raw)
        if digest not in self.sources and entry["dtype"] == "f32" and raw.nbytes >= MIN_BYTES:
            made = self._multiple(raw, before) or self._rebuilt(packed, entry, before)
            if made is not None:
                self.sources[digest] = made
        return self._kept(raw)

    def _multiple(self, raw: np.ndarray, before: Mapping[str, Source]) -> Source | None:
        """An array as one number times another one of its buffer."""
        for source in before.values():
            kept = self.arrays.get(source["from"])
            factor = None if kept is None or len(source) > 1 else multiple(kept, raw)
            if factor is not None:
                return {"from": source["from"], "times": factor}
        return None

    def _rebuilt(
        self, packed: "PackedBuffer", entry: dict[str, Any], before: Mapping[str, Source]
    ) -> Source | None:
        """An array that the page makes of others of its buffer, which are kept."""
        made = rebuilt_stage(entry["name"], packed.matrices({*before, entry["name"]}))
        if made is None:
            return None
        near = self._kept(_padded(made.differences.near))["from"]
        far = made.differences.far
        name = f"r{len(self.rebuilt)}"
        self.rebuilt[name] = {
            "rule": made.rule,
            "sources": [before[source] for source in made.sources],
            "sizes": list(made.sizes),
            "near": near,
            **({"far": self._kept(far.astype("<i4").view(np.uint8))["from"]} if far.size else {}),
        }
        self.arrays[name] = packed.raw(entry)
        return {"from": name}

    def _kept(self, raw: np.ndarray) -> Source:
        """The source of an array with these bytes, kept here if there is none yet."""
        digest = _digest(raw)
        if digest not in self.sources:
            name = f"a{len(self.sources)}"
            self.sources[digest] = {"from": name}
            self.arrays[name] = raw
            self._count(raw.nbytes)
        return self.sources[digest]

    def _count(self, n_bytes: int) -> None:
        self.n_bytes += n_bytes
        if self.n_bytes > MAX_BYTES:
            size, limit = -(-self.n_bytes // MIB), MAX_BYTES // MIB
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
        kept = names - self.rebuilt.keys()
        return pack({}, {name: raw for name, raw in self.arrays.items() if name in kept})


def _digest(raw: np.ndarray) -> bytes:
    return hashlib.sha256(raw.tobytes()).digest()


def _padded(raw: np.ndarray) -> np.ndarray:
    """Bytes filled up to a multiple of four, as those of a buffer are."""
    return np.concatenate([raw, np.zeros(-raw.size % ALIGNMENT, np.uint8)])


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

    def matrices(self, names: Collection[str]) -> dict[str, np.ndarray]:
        """The arrays of these names that have rows and columns, with all their cells."""
        forms = {short: name for name, short in DTYPES.items()}
        matrices = {}
        for entry in self.entries:
            rows_columns = entry["shape"]
            if entry["name"] not in names or len(rows_columns) != 2 or "first" in entry:
                continue
            flat = self.raw(entry).view(np.dtype(forms[entry["dtype"]]).newbyteorder("<"))
            matrices[entry["name"]] = flat[: math.prod(rows_columns)].reshape(rows_columns)
        return matrices

    def coarser(self, name: str, codes: np.ndarray) -> np.ndarray | None:
        """The bytes of the 16-bit array of this name if `codes` are all of its codes, coarser."""
        for entry in self.entries:
            if entry["name"] == name and entry["dtype"] == "u16":
                raw = self.raw(entry)
                fine = raw.view("<u2")
                coarse = ((fine.astype(np.uint32) + COARSER // 2) // COARSER).astype(np.uint8)
                return raw if np.array_equal(coarse, codes[: coarse.size]) else None
        return None
