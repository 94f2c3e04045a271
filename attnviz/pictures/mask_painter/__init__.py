"""Mask painter: a visitor paints cells of a matrix of queries and keys, to ask for heads like it.

In: a frozen `MaskPainterView`. Out: the painted cells as the event `cells`, which `parse`
validates.
"""

import re
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from attnviz.pictures.shared.canvas import Canvas

MAX_TOKENS = 64  # that can be painted one by one
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
