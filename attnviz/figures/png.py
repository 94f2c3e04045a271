"""A small PNG writer for pictures of cells: few colours, each cell many pixels.

In: colours [row, column, rgb] and how many pixels wide a cell is. Out: the bytes of a PNG (ISO/IEC
15948). Rows that repeat the one above are written as zeros by the filter "Up", so that an enlarged
picture is hardly larger than a small one.
"""

import struct
import zlib

import numpy as np
from jaxtyping import UInt8

SIGNATURE = b"\x89PNG\r\n\x1a\n"
TRUECOLOUR, PALETTE = 2, 3
NONE, UP = 0, 2  # filters of a row
MAX_COLOURS = 256


def encoded(cells: UInt8[np.ndarray, "row column rgb"], enlarged: int = 1) -> bytes:
    """A PNG in which each cell is a square of `enlarged` × `enlarged` pixels of one colour."""
    fresh = np.ones(len(cells), dtype=np.bool_)  # rows that are not like the one above them
    fresh[1:] = (cells[1:] != cells[:-1]).any(axis=(1, 2))
    indexed, palette = _indexed(cells[fresh])
    wide = np.repeat(indexed, enlarged, axis=1).reshape(len(indexed), -1)
    lines = np.zeros((len(cells) * enlarged, 1 + wide.shape[1]), dtype=np.uint8)
    lines[:, 0] = UP
    first = np.flatnonzero(fresh) * enlarged
    lines[first, 0], lines[first, 1:] = NONE, wide
    kind = TRUECOLOUR if palette is None else PALETTE
    size = struct.pack(">IIBBBBB", cells.shape[1] * enlarged, len(lines), 8, kind, 0, 0, 0)
    chunks = [_chunk(b"IHDR", size)]
    if palette is not None:
        chunks.append(_chunk(b"PLTE", palette.tobytes()))
    chunks += [_chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)), _chunk(b"IEND", b"")]
    return SIGNATURE + b"".join(chunks)


def _indexed(
    cells: UInt8[np.ndarray, "row column rgb"],
) -> tuple[UInt8[np.ndarray, "row column part"], UInt8[np.ndarray, "colour rgb"] | None]:
    """Indices into a palette of the colours that occur; the colours themselves beyond 256."""
    red, green, blue = np.moveaxis(cells.astype(np.uint32), 2, 0)
    colours, index = np.unique(red << 16 | green << 8 | blue, return_inverse=True)
    if len(colours) > MAX_COLOURS:
        return cells, None
    palette = np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=1)
    return index.reshape(*cells.shape[:2], 1).astype(np.uint8), palette.astype(np.uint8)


def _chunk(name: bytes, data: bytes) -> bytes:
    checked = name + data
    return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))
