"""The numbers of a page: every array once, however many views show it.

In: what components are sent. Out: an index of their headers and arrays, and one byte string. An
array with the same bytes as another one is kept once, and so are texts; the 8-bit codes of Overview
are those of Head divided by 257 and rounded, and are made in the browser if that holds for each; so
are scaled scores, which are the scores times one number, and what `rebuilt` knows the way to.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attnviz.errors import TooLarge
from attnviz.files.saved_page.rebuilt import rebuilt_stage
from attnviz.pictures.shared.buffer import LaidOut, Sent, header_bytes, laid_out, pack
from attnviz.pictures.shared.canvas import SentView
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

    def add(self, view: SentView, fine: Mapping[str, Sent]) -> dict[str, Any]:
        """The index entry of a view; `fine` may hold its weights in 16 bits."""
        texts = json.dumps(dict(view.texts), sort_keys=True)
        name = f"t{hashlib.sha256(texts.encode()).hexdigest()[:8]}"
        self.texts[name] = dict(view.texts)
        arrays = [laid_out(name, array) for name, array in view.arrays.items()]
        sources: dict[str, Source] = {}
        for array in sorted(arrays, key=lambda array: bool(array.entry["dtype"] == "f32")):
            codes = _finer(array, fine)
            sources[array.entry["name"]] = (
                self._source(array, view.arrays, sources)
                if codes is None
                else {**self._kept(codes), "coarse": 1}
            )
        return {
            "header": json.loads(header_bytes(view.header)),  # as browsers read it
            "strings": name,
            "arrays": [array.entry | sources[array.entry["name"]] for array in arrays],
        }

    def _source(
        self, array: LaidOut, among: Mapping[str, Sent], before: Mapping[str, Source]
    ) -> Source:
        """Where the bytes are of an array `among` those of a view; those `before` it are placed."""
        raw, digest = array.raw, _digest(array.raw)
        if digest not in self.sources and array.entry["dtype"] == "f32" and raw.size >= MIN_BYTES:
            made = self._multiple(raw, before) or self._rebuilt(array, among, before)
            if made is not None:
                self.sources[digest] = made
        return self._kept(raw)

    def _multiple(self, raw: np.ndarray, before: Mapping[str, Source]) -> Source | None:
        """An array as one number times another one of its view."""
        for source in before.values():
            kept = self.arrays.get(source["from"])
            factor = None if kept is None or len(source) > 1 else multiple(kept, raw)
            if factor is not None:
                return {"from": source["from"], "times": factor}
        return None

    def _rebuilt(
        self, array: LaidOut, among: Mapping[str, Sent], before: Mapping[str, Source]
    ) -> Source | None:
        """An array that the page makes of others of its view, which are kept."""
        own = array.entry["name"]
        matrices = {
            name: matrix
            for name, matrix in among.items()
            if (name in before or name == own)
            and isinstance(matrix, np.ndarray)
            and matrix.ndim == 2
        }
        made = rebuilt_stage(own, matrices)
        if made is None:
            return None
        near = self._kept(laid_out("near", made.differences.near).raw)["from"]
        far = made.differences.far
        name = f"r{len(self.rebuilt)}"
        self.rebuilt[name] = {
            "rule": made.rule,
            "sources": [before[source] for source in made.sources],
            "sizes": list(made.sizes),
            "near": near,
            **({"far": self._kept(far.astype("<i4").view(np.uint8))["from"]} if far.size else {}),
        }
        self.arrays[name] = array.raw
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
    return hashlib.sha256(raw.data).digest()


def _finer(array: LaidOut, fine: Mapping[str, Sent]) -> np.ndarray | None:
    """The bytes of the 16-bit array of the same name if these are all of its codes, coarser."""
    name = array.entry["name"]
    if name not in fine:
        return None
    finer = laid_out(name, fine[name])
    if finer.entry["dtype"] != "u16":
        return None
    coarse = finer.raw.view("<u2").astype(np.uint32)
    coarse += COARSER // 2
    coarse //= COARSER
    return finer.raw if np.array_equal(coarse, array.raw[: coarse.size]) else None


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
