"""Where the tokens of a layer are in the picture, for what is drawn: patches, blocks, windows.

In: a language, a capture, a group and a layer. Out: the part of the picture that the layer sees
with the place of each token in it, the names of tokens that stand for several patches, and a
sentence on them. Nothing is computed here but from the places that the library found.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from attnviz.components.heads import LayerPatches, Patches
from attnviz.i18n import Language, text
from attnviz.types import Tokens
from attnviz.views.captured import Captured, Shown
from attnviz.views.groups import Group
from attnviz.vision.token_boxes import BLOCK, Box, PatchRange, Places

if TYPE_CHECKING:
    from attnviz.attention.call import AttentionCall


def labels(lang: Language, tokens: Tokens, places: Places | None) -> tuple[str, ...]:
    """The tokens' names; a block of patches is called one in the reader's language."""
    if places is None or not places.coarse:
        return tokens.labels
    return tuple(
        label if special else text(lang, "place.block", place=label.removesuffix(BLOCK))
        for label, special in zip(tokens.labels, tokens.special, strict=True)
    )


def picture(captured: Captured, group: Group) -> Patches | None:
    """The picture under the tokens, where each of them is some of its patches.

    Where layers differ its patches are those of the first one.
    """
    if captured.picture is None:
        return None
    if group.uneven:
        known = all(_known(call) for call in group.calls)
        of = _part(group.calls[0], group.row()) if known else None
        return None if of is None else Patches(of.rows, of.columns, of.first, captured.picture)
    if group.stack == "text" and not group.cross:
        return _in_text(captured, group)
    grid, n = captured.capture.grid, len(group.queries())
    if group.stack not in (None, "vision") or grid is None or group.cross or _area(grid) > n:
        return None
    return Patches(*grid, first=n - _area(grid), picture=captured.picture)


def _in_text(captured: Captured, group: Group) -> Patches | None:
    """The picture where its patches are tokens of a text; None where they are others, or none."""
    from attnviz.models.architecture import picture_token

    grid, token = captured.capture.grid, picture_token(captured.model.model)
    if grid is None or token is None or captured.picture is None:
        return None
    at = np.flatnonzero(group.queries().ids == token)[: _area(grid)]
    if len(at) < _area(grid) or at[-1] - at[0] != len(at) - 1:
        return None
    return Patches(*grid, first=int(at[0]), picture=captured.picture)


def patches(shown: Shown, layer: int) -> LayerPatches | None:
    """What a layer sees of the picture; None where that is not known of all layers."""
    whole = picture(shown.captured, shown.group)
    if whole is None:
        return None
    if not shown.group.uneven:
        return LayerPatches(
            whole.rows, whole.columns, (whole.rows, whole.columns), 0, 0, whole.first
        )
    call, row = shown.group.calls[layer], shown.group.row(layer)
    return replace(_part(call, row), said=said(shown.lang, call))


def said(lang: Language, call: "AttentionCall") -> str:
    """What a layer's queries and keys stand for; empty where each is a patch."""
    named = (
        ("query", "query_overlap", call.query_places),
        ("key", "key_overlap", call.key_places),
    )
    return " ".join(
        text(
            lang,
            f"place.{overlapping if places.overlapping else apart}",
            rows=_widest(places.rows),
            columns=_widest(places.columns),
            count=len(places.rows) * len(places.columns),
            patches=_area(places.grid),
        )
        for apart, overlapping, places in named
        if places is not None and places.coarse
    )


def _area(grid: tuple[int, int]) -> int:
    return grid[0] * grid[1]


def _widest(spans: tuple[PatchRange, ...]) -> int:
    return max(stop - start for start, stop in spans)


def _known(call: "AttentionCall") -> bool:
    if call.query_places is not None and call.key_places is not None:
        return call.query_places.grid == call.key_places.grid
    return call.windows is not None and call.windows.grid is not None


def _part(call: "AttentionCall", row: int) -> LayerPatches:
    """What a layer sees of the picture, with the place of each token in it."""
    queries, keys = call.query_places, call.key_places
    return _window(call, row) if queries is None or keys is None else _placed(queries, keys, row)


def _window(call: "AttentionCall", row: int) -> LayerPatches:
    """The patches of a window, one after the other."""
    of = call.windows
    assert of is not None and of.grid is not None
    down, across = divmod(row % of.count, of.board[1])
    top, left = (place * of.side + of.shift for place in (down, across))
    return LayerPatches(of.side, of.side, of.grid, top=top, left=left)


def _placed(queries: Places, keys: Places, row: int) -> LayerPatches:
    """All of the picture that the layer's tokens are, with their boxes in it."""
    boxes = [of.boxes(row) for of in (queries, keys)]
    top, left, bottom, right = _around([box for of in boxes for box in of if box is not None])
    plain = all(of.in_rows and not of.coarse for of in (queries, keys))
    first = next(at for at, box in enumerate(boxes[0]) if box is not None)
    moved = [tuple(_moved(box, top, left) for box in of) for of in boxes]
    return LayerPatches(
        bottom - top,
        right - left,
        queries.grid,
        top=top,
        left=left,
        first=first,
        query_boxes=None if plain else moved[0],
        key_boxes=None if plain else moved[1],
    )


def _around(boxes: list[Box]) -> Box:
    """The smallest box that has all of them in it."""
    tops, lefts, bottoms, rights = zip(*boxes, strict=True)
    return min(tops), min(lefts), max(bottoms), max(rights)


def _moved(box: Box | None, top: int, left: int) -> Box | None:
    if box is None:
        return None
    return box[0] - top, box[1] - left, box[2] - top, box[3] - left
