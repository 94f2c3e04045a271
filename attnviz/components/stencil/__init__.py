"""Stencil: a matrix of queries and keys whose cells a visitor paints, to ask for heads like it.

In: the tokens of both axes, the cells painted so far, and translated strings. Out: a mounted
component; what was painted is sent as the event `cells`, which `parse` validates.
"""

import re
from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool

from attnviz.components.buffer import pack

NAME = "attnviz.stencil"
STRING_KEYS: tuple[str, ...] = ("stencil.canvas", "stencil.cell", "stencil.hint", "stencil.clear")
MAX_TOKENS = 64  # that can be painted one by one
CELL = re.compile(r"(\d{1,3})\.(\d{1,3})", re.ASCII)

Cells = Bool[np.ndarray, "query key"]


def pack_stencil(
    queries: tuple[str, ...], keys: tuple[str, ...], cells: Cells, strings: Mapping[str, str]
) -> bytes:
    """The buffer of the component; painted cells are 1."""
    header = {"strings": dict(strings), "tokens": list(queries), "key_tokens": list(keys)}
    return pack(header, {"cells": cells.astype(np.uint8)})


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
