"""The open head of a long text: one at a time, by tiles, built while the visitor watches.

In: what is shown, whose heads do not all fit into a browser. Out: a mounted component, above it a
progress bar with a button to stop while the head is built. What the component asks for (tiles, the
strongest cells, one exact weight) reruns this fragment alone.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from jaxtyping import Float32, UInt8

import attnviz
from attnviz.app.frame import fragments
from attnviz.app.frame.fragments import keep_selection
from attnviz.app.frame.measurement import job_progress
from attnviz.app.host.draw import draw
from attnviz.app.server import pyramids
from attnviz.app.server.pyramids import HeadPyramid
from attnviz.app.server.shared import shared
from attnviz.app.session import current, messages, widgets
from attnviz.app.session.fragment import fragment
from attnviz.i18n import Language, text
from attnviz.pictures import tiles as component
from attnviz.pictures.group import heads
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.axes import token_axes
from attnviz.pictures.shared.heads import Axes
from attnviz.pictures.shared.selection import Extent
from attnviz.pictures.tiles import DISTANCE, TileName, TilesData, Want
from attnviz.types import HeadId, ignore

if TYPE_CHECKING:
    from attnviz.tiles import Pyramid

# a head of some thousand tokens is built in less: then no progress is shown
PATIENCE_S = 0.25
MAX_TILE_ANSWERS = 48  # a dozen tiles of one byte each have 0.8 MB
STAMP_CHARS = 16
SIDE = component.SIDE


def alone(shown: PageContext) -> None:
    """The open head without the grid, and the way back to all heads."""
    (fragments.head if shown.size.all_at_once else head)(shown)
    label = text(shown.lang, "component.head.all_heads")
    st.button(label, key=widgets.key("all_heads"), on_click=current.take, args=({"open": False},))


@fragment("tiles")
def head(shown: PageContext) -> None:
    """The chosen head of the first text; another one is built when it is asked for."""
    with messages.guard(shown.lang):
        head_id = HeadId(*shown.size.nearest_head(*current.view().place.layer_and_head))
        call, key = shown.group.call(head_id.layer), widgets.component_key("tiles")
        extent = replace(shown.size.extent, n_query=call.n_query, n_key=call.n_key)
        name = f"{shown.key} {head_id}"
        watched = pyramids.pyramid(
            name, call, head_id.head, None if shown.group.cross else DISTANCE
        )
        watched.job.wait(PATIENCE_S)
        n_tokens = max(call.n_query, call.n_key)
        st.caption(text(shown.lang, "tiles.note", tokens=n_tokens))
        with st.container():  # holds its place, so that the component below stays where it is
            if not watched.job.over:
                building = ("tiles.building", "tiles.cancel")
                job_progress(shown.lang, watched.job, *building, head=str(head_id))
            elif watched.job.state == "stopped":
                _stopped(shown.lang, name, head_id)
        want = component.parse_want(widgets.component_value(key, "want"), extent)
        if want.stamp != _stamp(name):  # it was for another head: the whole of this one
            want = replace(want, stamp=_stamp(name), tiles=(), cell=None)
        answer = _answer(
            f"{name} {shown.lang} {watched.job.state} {want}",
            lambda: _data(shown, head_id, extent, watched, want),
        )
        on = {"selection": keep_selection(extent, "tiles"), "want": ignore}
        draw(component.CANVAS, answer, "tiles", shown.lang, on)


@shared(most=MAX_TILE_ANSWERS)
def _answer(key: str, _build: Callable[[], TilesData]) -> TilesData:
    """The tiles that `_build` reads; `key` names everything that determines them."""
    return _build()


def _stopped(lang: Language, name: str, head_id: HeadId) -> None:
    """A sentence that the computation was stopped, and a button to start it again."""
    st.info(text(lang, "tiles.stopped", head=str(head_id)))
    st.button(
        text(lang, "tiles.again"),
        key=widgets.key("tiles.again"),
        on_click=pyramids.forget,
        args=(name,),
    )


def _stamp(*parts: str) -> str:
    return sha256(repr(parts).encode("utf-8")).hexdigest()[:STAMP_CHARS]


def _data(
    shown: PageContext, head_id: HeadId, extent: Extent, watched: HeadPyramid, want: Want
) -> TilesData:
    """One answer to the browser."""
    queries, keys = token_axes(shown, layer=head_id.layer)
    sound = shown.captured.media.sound
    digest = "" if sound is None else sound.digest
    axes_stamp = _stamp(shown.lang, digest, *queries.rows, *keys.labels)
    pyramid, has_axes = watched.ready(), want.axes == axes_stamp
    data = TilesData(
        stamp=want.stamp,
        axes_stamp=axes_stamp,
        axes=None if has_axes else Axes.of(queries, keys, shown.group.cross),
        heard=None if has_axes else heads.spectrum(shown),
        cross=shown.group.cross,
        layer=head_id.layer,
        head=head_id.head,
        extent=extent,
        top=attnviz.tiles.top_level(extent.n_query, extent.n_key),
        ready=pyramid is not None,
        want=want,
    )
    if pyramid is None:
        return data
    levels = [level for level in (pyramid.top, pyramid.top - 1) if level >= 0]
    names = want.tiles or [name for level in levels for name in _all(pyramid, level)]
    codes, exact = _tiles(pyramid, names)
    cells = watched.strongest(None if shown.group.cross else want.distance)
    return replace(
        data,
        codes=codes,
        exact=exact,
        cells=tuple((cell.query, cell.key, cell.weight) for cell in cells),
        weight=None if want.cell is None else pyramid.exact(*want.cell),
    )


def _all(pyramid: "Pyramid", level: int) -> list[TileName]:
    down, across = pyramid.tiles(level)
    return [(level, row, column) for row in range(down) for column in range(across)]


def _tiles(
    pyramid: "Pyramid", names: Iterable[TileName]
) -> tuple[
    dict[TileName, UInt8[np.ndarray, "256 256"]], dict[TileName, Float32[np.ndarray, "256 256"]]
]:
    """The tiles that exist among the names: as codes, and those of level 0 exact."""
    codes: dict[TileName, np.ndarray] = {}
    exact: dict[TileName, np.ndarray] = {}
    for level, row, column in names:
        down, across = pyramid.tiles(level) if level <= pyramid.top else (0, 0)
        if row >= down or column >= across:
            continue
        if level:
            codes[level, row, column] = pyramid.tile(level, row, column)
        else:
            exact[0, row, column] = _whole_tile(pyramid, row, column)
    return codes, exact


def _whole_tile(pyramid: "Pyramid", row: int, column: int) -> Float32[np.ndarray, "256 256"]:
    """The weights of one tile, zeros beyond the edge."""
    tile = np.zeros((SIDE, SIDE), dtype=np.float32)
    queries, keys = (slice(index * SIDE, (index + 1) * SIDE) for index in (row, column))
    weights = pyramid.weights(queries, keys)
    tile[: weights.shape[0], : weights.shape[1]] = weights
    return tile
