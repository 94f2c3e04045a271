"""Drawings from the pad, as names that hold every cell, so that a link shows the same picture.

In: the picture that the pad sent. Out: its name, "drawing-" and the compressed cells in base64; the
picture that a name stands for. A drawing has as many cells as a picture of the `shapes` world has
pixels, each in one paint of the pad. A name is input from outside: what unpacks to anything but
these cells is no drawing.
"""

import base64
import re
import zlib

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from attnviz.pictures.drawing_pad import PAD_SIDE_PX, PAINTS
from attnviz.worlds import shapes
from attnviz.worlds.forms import Paint

SIDE_CELLS = shapes.SIDE_PX
CELL_PX = PAD_SIDE_PX // SIDE_CELLS
GROUND: Paint = (255, 255, 255)
COLOURS = np.array([GROUND, *PAINTS.values()], dtype=np.uint8)
MAX_CHARS = 4096  # cells of random paints take 1,200
NAME = re.compile(rf"drawing-([A-Za-z0-9_-]{{1,{MAX_CHARS}}})")
RAW_DEFLATE = -15  # zlib's sign for a stream without a header

Cells = UInt8[np.ndarray, "row column"]


def name(picture: Image.Image) -> str:
    """The name of a drawing of PAD_SIDE_PX pixels a side; a cell takes its most frequent paint."""
    pixels = np.asarray(picture.convert("RGB")).astype(np.int32)
    distances = [((pixels - colour) ** 2).sum(axis=-1) for colour in COLOURS.astype(np.int32)]
    nearest = np.argmin(distances, axis=0).reshape(SIDE_CELLS, CELL_PX, SIDE_CELLS, CELL_PX)
    counts = [(nearest == paint).sum(axis=(1, 3)) for paint in range(len(COLOURS))]
    cells = np.argmax(counts, axis=0).astype(np.uint8)
    packer = zlib.compressobj(9, zlib.DEFLATED, RAW_DEFLATE)
    packed = packer.compress(cells.tobytes()) + packer.flush()
    return "drawing-" + base64.urlsafe_b64encode(packed).decode("ascii").rstrip("=")


def is_drawing(name: str) -> bool:
    """True if the name holds a drawing."""
    return _cells(name) is not None


def made(name: str) -> Image.Image | None:
    """The picture of a drawing's name; None for any other name."""
    cells = _cells(name)
    if cells is None:
        return None
    return Image.fromarray(COLOURS[cells]).resize(
        (PAD_SIDE_PX, PAD_SIDE_PX), Image.Resampling.NEAREST
    )


def _cells(name: str) -> Cells | None:
    match = NAME.fullmatch(name)
    if match is None:
        return None
    unpacker = zlib.decompressobj(RAW_DEFLATE)
    try:
        packed = base64.b64decode(match[1] + "=" * (-len(match[1]) % 4), altchars=b"-_")
        unpacked = unpacker.decompress(packed, SIDE_CELLS**2 + 1)
    except (ValueError, zlib.error):
        return None
    cells = np.frombuffer(unpacked, dtype=np.uint8)
    whole = unpacker.eof and not unpacker.unused_data and cells.size == SIDE_CELLS**2
    if not whole or cells.max() >= len(COLOURS):
        return None
    return cells.reshape(SIDE_CELLS, SIDE_CELLS)
