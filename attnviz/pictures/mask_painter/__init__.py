"""Mask painter: a visitor paints cells of a matrix of queries and keys, to ask for heads like it.

In: a frozen `MaskPainterView`. Out: the painted cells as the event `cells`, which `parse`
validates; `write` and `read` are the form in which a link has them.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from attnviz.pictures.shared.canvas import Canvas

MAX_TOKENS = 64  # that can be painted one by one
# the name of a pattern, or the cells of a painted one: "16x16." and their bits
DRAWN = re.compile(r"[a-z_]{1,30}|\d{1,2}x\d{1,2}\.[\w-]{1,700}", re.ASCII)
CELL = re.compile(r"(\d{1,3})\.(\d{1,3})", re.ASCII)

Cells = Bool[np.ndarray, "query key"]


@dataclass(frozen=True, eq=False)
class MaskPainterView:
    """The tokens of both axes, and the cells painted so far."""

    tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    cells: Cells


CANVAS = Canvas("mask_painter", (MaskPainterView,))


def parse(sent: object, shape: tuple[int, int]) -> Cells | None:
    """The cells that a browser sent as "query.key,…"; None for nonsense or cells outside."""
    if not isinstance(sent, str) or len(sent) > 8 * MAX_TOKENS**2:
        return None
    cells = np.zeros(shape, np.bool_)
    for part in filter(None, sent.split(",")):
        match = CELL.fullmatch(part)
        place = tuple(map(int, match.groups())) if match else shape
        if place[0] >= shape[0] or place[1] >= shape[1]:
            return None
        cells[place] = True
    return cells


def write(cells: Cells) -> str:
    """The cells as a link has them: both sizes, and a bit for each cell in base64."""
    rows, columns = cells.shape
    bits = urlsafe_b64encode(np.packbits(cells).tobytes()).decode("ascii")
    return f"{rows}x{columns}.{bits.rstrip('=')}"


def read(text: str, shape: tuple[int, int]) -> Cells | None:
    """The cells that `write` wrote; None for nonsense, or cells of another text."""
    size, _, bits = text.partition(".")
    try:
        packed = np.frombuffer(urlsafe_b64decode(bits + "=" * (-len(bits) % 4)), np.uint8)
    except ValueError:
        return None
    count = shape[0] * shape[1]
    if size != f"{shape[0]}x{shape[1]}" or len(packed) != -(-count // 8):
        return None
    return np.unpackbits(packed, count=count).astype(np.bool_).reshape(shape)
