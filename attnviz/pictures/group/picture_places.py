"""Places of a layer's tokens in the picture, for what is drawn: patches, blocks, windows.

In: what is shown, and a layer. Out: the part of the picture that the layer covers with the place of
each token in it, the labels of tokens that stand for several patches, and a sentence on those.
The places themselves come from the capture.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from attnviz.i18n import Language, text
from attnviz.pictures.group import groups
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.groups import Group
from attnviz.pictures.shared.heads import LayerPatches, Patches
from attnviz.types import Tokens
from attnviz.vision.token_boxes import BLOCK, Box, PatchRange, Places

if TYPE_CHECKING:
    from attnviz.attention.call import AttentionCall


def labels(lang: Language, tokens: Tokens, places: Places | None) -> tuple[str, ...]:
    """The tokens' labels; a block of patches is called one in the reader's language."""
    if places is None or not places.coarse:
        return tokens.labels
    return tuple(
        label if special else text(lang, "place.block", place=label.removesuffix(BLOCK))
        for label, special in zip(tokens.labels, tokens.special, strict=True)
    )


def picture(captured: AppCapture, group: Group) -> Patches | None:
    """The picture whose patches are tokens of the group; None if there is none.

    Where layers differ its patches are those of the first layer.
    """
    image = captured.media.picture
    if image is None:
        return None
    if group.uneven:
        if not all(_has_places(call) for call in group.calls):
            return None
        part = _part(group.calls[0], group.row())
        return Patches(part.rows, part.columns, part.first, image)
    if group.stack == "text" and not group.cross:
        return _picture_in_text(captured, group)
    grid, n = captured.capture.grid, len(groups.queries(group))
    if group.stack not in (None, "vision") or grid is None or group.cross or _area(grid) > n:
        return None
    return Patches(*grid, first=n - _area(grid), picture=image)


def _picture_in_text(captured: AppCapture, group: Group) -> Patches | None:
    """The picture if its patches are neighbouring tokens of the text."""
    from attnviz.models.architecture import picture_token

    if captured.loaded is None:
        return None
    grid, token = captured.capture.grid, picture_token(captured.loaded.model)
    image = captured.media.picture
    if grid is None or token is None or image is None:
        return None
    positions = np.flatnonzero(groups.queries(group).ids == token)[: _area(grid)]
    contiguous = len(positions) and positions[-1] - positions[0] == len(positions) - 1
    if len(positions) < _area(grid) or not contiguous:
        return None
    return Patches(*grid, first=int(positions[0]), picture=image)


def patches(shown: PageContext, layer: int) -> LayerPatches | None:
    """The part of the picture that a layer covers; None unless it is known of all layers."""
    whole = picture(shown.captured, shown.group)
    if whole is None:
        return None
    if not shown.group.uneven:
        return LayerPatches(
            whole.rows, whole.columns, (whole.rows, whole.columns), 0, 0, whole.first
        )
    call = shown.group.calls[layer]
    return replace(_part(call, shown.group.row(layer)), said=coarse_sentence(shown.lang, call))


def coarse_sentence(lang: Language, call: "AttentionCall") -> str:
    """A sentence on queries and keys that cover several patches; "" where each is one patch."""
    axes = (
        ("query", "query_overlap", call.query_places),
        ("key", "key_overlap", call.key_places),
    )
    return " ".join(
        text(
            lang,
            f"place.{overlapping if places.overlapping else separate}",
            rows=_widest(places.rows),
            columns=_widest(places.columns),
            count=len(places.rows) * len(places.columns),
            patches=_area(places.grid),
        )
        for separate, overlapping, places in axes
        if places is not None and places.coarse
    )


def _area(grid: tuple[int, int]) -> int:
    return grid[0] * grid[1]


def _widest(spans: tuple[PatchRange, ...]) -> int:
    return max(stop - start for start, stop in spans)


def _has_places(call: "AttentionCall") -> bool:
    """True if the capture knows where in the picture the tokens of both axes are."""
    if call.query_places is not None and call.key_places is not None:
        return call.query_places.grid == call.key_places.grid
    return call.windows is not None and call.windows.grid is not None


def _part(call: "AttentionCall", row: int) -> LayerPatches:
    """The part of the picture that a layer covers, with the place of each token in it."""
    queries, keys = call.query_places, call.key_places
    if queries is None or keys is None:
        return _window(call, row)
    return _boxes(queries, keys, row)


def _window(call: "AttentionCall", row: int) -> LayerPatches:
    """The patches of a window, one after the other."""
    windows = call.windows
    assert windows is not None and windows.grid is not None
    down, across = divmod(row % windows.count, windows.board[1])
    top, left = (index * windows.side + windows.shift for index in (down, across))
    return LayerPatches(windows.side, windows.side, windows.grid, top=top, left=left)


def _boxes(queries: Places, keys: Places, row: int) -> LayerPatches:
    """The smallest part of the picture around the layer's tokens, with their boxes in it."""
    query_boxes, key_boxes = queries.boxes(row), keys.boxes(row)
    top, left, bottom, right = _around(
        [box for box in (*query_boxes, *key_boxes) if box is not None]
    )
    one_by_one = all(places.in_rows and not places.coarse for places in (queries, keys))
    return LayerPatches(
        bottom - top,
        right - left,
        queries.grid,
        top=top,
        left=left,
        first=next(index for index, box in enumerate(query_boxes) if box is not None),
        query_boxes=None if one_by_one else _moved(query_boxes, top, left),
        key_boxes=None if one_by_one else _moved(key_boxes, top, left),
    )


def _around(boxes: list[Box]) -> Box:
    """The smallest box around all of them."""
    tops, lefts, bottoms, rights = zip(*boxes, strict=True)
    return min(tops), min(lefts), max(bottoms), max(rights)


def _moved(boxes: tuple[Box | None, ...], top: int, left: int) -> tuple[Box | None, ...]:
    """The boxes counted from another corner."""
    return tuple(
        None if box is None else (box[0] - top, box[1] - left, box[2] - top, box[3] - left)
        for box in boxes
    )
