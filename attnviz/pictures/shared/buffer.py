"""Packs what a component shows into one byte string, and weights into 8 or 16 bits.

Layout: [u32 little-endian header length][JSON header, UTF-8, padded with spaces][payload], the
payload at a multiple of four. The header lists its arrays as {name, dtype: "u8" | "u16" | "f32",
shape, offset} with offsets from the payload's start, four-aligned. `shared/buffer.js` reads it.
JSON is strict: NaN or infinity in a header is refused, in float32 arrays they are allowed.
Weights in 0..1 are stored as square roots, which keeps small weights apart: the relative error of
w > 0.001 stays below 13 % in 8 bits and below 0.05 % in 16 bits.
Where no query sees what comes after it, that half is not sent (`Lower`): the entry of such an array
has `first`, row q holds its first `first` + q columns, and everything behind them is 0.
Where some heads were kept alone, only these are sent (`SomeHeads`): the entry has `places`, which
heads they are, counted layer by layer.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float32, UInt8, UInt16

ALIGNMENT = 4
DTYPES: dict[str, str] = {"uint8": "u8", "uint16": "u16", "float32": "f32"}
Packable = UInt8[np.ndarray, "..."] | UInt16[np.ndarray, "..."] | Float32[np.ndarray, "..."]
BLOCK = 2**18  # weights that are turned into codes at a time: they stay in the processor's cache
WORTH_IT = 0.75  # of the cells: with more left, matrices are sent whole


@dataclass(frozen=True, eq=False)
class Lower:
    """Matrices [layer, head, query, key] of which row q has its first `first` + q columns.

    Everything behind these is 0. `cells` holds the rows of a matrix one after the other.
    """

    cells: Packable
    shape: tuple[int, ...]
    first: int

    def whole(self) -> Packable:
        """The matrices with their zeros."""
        full = np.zeros(self.shape, self.cells.dtype)
        for query, cells, stop in _rows(self.shape, self.first):
            full[..., query, :stop] = self.cells[..., cells]
        return full


@dataclass(frozen=True, eq=False)
class SomeHeads:
    """The matrices of some heads; those of the others are 0.

    `shape` is what all heads would have, [layer, head, query, key] or those of one layer, and
    `places` are the heads, counted layer by layer. Of layers that differ in shape `matrices` are
    the cells, one layer after the other, and so are those of `shape`.
    """

    matrices: Packable | Lower
    shape: tuple[int, ...]
    places: tuple[int, ...]

    @property
    def stored(self) -> Packable:
        """The cells that are sent."""
        return self.matrices.cells if isinstance(self.matrices, Lower) else self.matrices

    def whole(self) -> Packable:
        """The matrices of all heads, where layers have one shape."""
        full = np.zeros(self.shape, self.stored.dtype)
        rows = self.matrices.whole() if isinstance(self.matrices, Lower) else self.matrices
        full.reshape(-1, *self.shape[-2:])[list(self.places)] = rows
        return full


Sent = Packable | Lower | SomeHeads


@dataclass(frozen=True, eq=False)
class LaidOut:
    """An array as it travels: its entry in the header but for the offset, and its bytes.

    Zeros fill the bytes up to a multiple of four.
    """

    entry: dict[str, Any]
    raw: UInt8[np.ndarray, "bytes"]


def laid_out(name: str, sent: Sent) -> LaidOut:
    """The array under its name, copied only where its bytes are not in order or too few."""
    form: dict[str, object] = {}
    matrices = sent
    if isinstance(sent, SomeHeads):
        form["places"], matrices = list(sent.places), sent.matrices
    if isinstance(matrices, Lower):
        form["first"], matrices = matrices.first, matrices.cells
    array = np.ascontiguousarray(matrices)
    raw = array.astype(array.dtype.newbyteorder("<"), copy=False).reshape(-1).view(np.uint8)
    if raw.size % ALIGNMENT:
        raw = np.concatenate([raw, np.zeros(-raw.size % ALIGNMENT, np.uint8)])
    entry = {"name": name, "dtype": DTYPES[array.dtype.name], "shape": list(sent.shape)}
    return LaidOut({**entry, **form}, raw)


def pack(header: Mapping[str, object], arrays: Mapping[str, Sent]) -> bytes:
    """One byte string with the header and the arrays, in the order given."""
    entries: list[dict[str, object]] = []
    chunks: list[memoryview] = []
    offset = 0
    for name, sent in arrays.items():
        array = laid_out(name, sent)
        entries.append({**array.entry, "offset": offset})
        chunks.append(array.raw.data)
        offset += array.raw.size
    text = header_bytes({**header, "arrays": entries})
    return b"".join([len(text).to_bytes(4, "little"), text, *chunks])


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, Packable]]:
    """The header and the arrays of a packed byte string: what JavaScript sees, for tests."""
    start = 4 + int.from_bytes(data[:4], "little")
    header: dict[str, Any] = json.loads(data[4:start].decode("utf-8"))
    numpy_names = {short: name for name, short in DTYPES.items()}
    arrays: dict[str, Packable] = {}
    for entry in header.pop("arrays"):
        dtype = np.dtype(numpy_names[entry["dtype"]]).newbyteorder("<")
        full, first, places = tuple(entry["shape"]), entry.get("first"), entry.get("places")
        is_uneven = len(full) == 1  # then cells, whatever their heads are
        shape = full if places is None or is_uneven else (len(places), *full[-2:])
        stored = shape if first is None else (*shape[:-2], n_kept(shape, first))
        count = int(np.prod(stored, dtype=np.int64))
        flat = np.frombuffer(data, dtype, count=count, offset=start + entry["offset"])
        cells = flat.reshape(stored)
        matrices = cells if first is None else Lower(cells, shape, first).whole()
        if places is not None and not is_uneven:
            matrices = SomeHeads(matrices, full, tuple(places)).whole()
        arrays[entry["name"]] = matrices
    return header, arrays


def packable(
    weights: Float32[np.ndarray, "*heads query key"] | SomeHeads, bits: Literal[8, 16, 32]
) -> Sent:
    """The heads as they travel, 32 bits for the weights themselves; causal ones without the 0s."""
    if isinstance(weights, SomeHeads):
        assert isinstance(weights.matrices, np.ndarray)
        matrices = packable(weights.matrices, bits)
        assert not isinstance(matrices, SomeHeads)
        return replace(weights, matrices=matrices)
    first = _first(weights, bits)
    if n_kept(weights.shape, first) > WORTH_IT * weights.shape[-2] * weights.shape[-1]:
        return weights if bits == 32 else quantise(weights, bits)
    cells = np.empty((*weights.shape[:-2], n_kept(weights.shape, first)), np.float32)
    for query, place, stop in _rows(weights.shape, first):
        cells[..., place] = weights[..., query, :stop]
    return Lower(cells if bits == 32 else quantise(cells, bits), weights.shape, first)


def _first(weights: Float32[np.ndarray, "*heads query key"], bits: Literal[8, 16, 32]) -> int:
    """The least width of the first row, one more in each next row, that holds all non-zeros."""
    n_key: int = weights.shape[-1]

    def used(cells: Float32[np.ndarray, "*axes"]) -> Bool[np.ndarray, "*axes"]:
        nonzero: Bool[np.ndarray, "*axes"] = (cells if bits == 32 else quantise(cells, bits)) != 0
        return nonzero

    if not weights.size or used(weights[..., 0, -1]).any():
        return n_key
    over = tuple(range(weights.ndim - 2))
    if bits == 32:
        seen = used(weights).any(axis=over)
    else:  # a code grows with its weight, so that the largest one tells
        seen = used(np.fmax.reduce(weights, axis=over))
    queries, keys = np.nonzero(seen)
    last = int((keys - queries).max(initial=-1))
    return last + 1 if last >= 0 else 0


def n_kept(shape: tuple[int, ...], first: int) -> int:
    """The number of cells of a matrix that are stored."""
    return sum(stop for _, _, stop in _rows(shape, first))


def _rows(shape: tuple[int, ...], first: int) -> Iterator[tuple[int, slice, int]]:
    """For each row its number, where its cells are stored, how many there are."""
    n_query, n_key = shape[-2:]
    start = 0
    for query in range(n_query):
        stop = min(n_key, first + query)
        yield query, slice(start, start + stop), stop
        start += stop


def roots_of(
    weights: Float32[np.ndarray, "*axes"] | SomeHeads, bits: Literal[8, 16]
) -> Packable | SomeHeads:
    """Weights as codes, of all heads or of some."""
    if isinstance(weights, SomeHeads):
        return replace(weights, matrices=quantise(weights.stored, bits))
    return quantise(weights, bits)


def quantise(
    weights: Float32[np.ndarray, "*axes"], bits: Literal[8, 16]
) -> UInt8[np.ndarray, "*axes"] | UInt16[np.ndarray, "*axes"]:
    """Weights in 0..1 as rounded square roots; NaN counts as 0."""
    codes: UInt8[np.ndarray, "*axes"] | UInt16[np.ndarray, "*axes"]
    codes = np.empty(weights.shape, np.uint8 if bits == 8 else np.uint16)
    flat, stored = np.ravel(weights), codes.reshape(-1)
    for start in range(0, flat.size, BLOCK):
        block = slice(start, start + BLOCK)
        roots = np.fmin(np.fmax(flat[block], 0.0), 1.0)  # fmax prefers 0 to NaN
        np.sqrt(roots, out=roots)
        roots *= 2**bits - 1
        stored[block] = np.rint(roots, out=roots)
    return codes


def header_bytes(header: Mapping[str, object]) -> bytes:
    """The header as JSON; a character that has no UTF-8 form becomes a question mark."""
    text = json.dumps(header, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    raw = text.encode("utf-8", errors="replace")  # a lone surrogate
    return raw + b" " * (-(4 + len(raw)) % ALIGNMENT)
