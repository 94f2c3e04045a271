"""The Head page of a long text: one head at a time, by tiles, built while the visitor watches.

In: a language, a `Captured` and a group whose heads do not all fit into a browser. Out: a mounted
component, above it a progress bar with a way to stop while the head is built. What the component
asks for (tiles, the strongest cells, one exact weight) reruns this fragment alone.
"""

from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from jaxtyping import Float32, UInt8

import attnviz
from attnviz.components import tiles as component
from attnviz.components.selection import Extent
from attnviz.components.tiles import DISTANCE, TileName, TilesData, Want
from attnviz.i18n import Language, text
from attnviz.types import HeadId
from attnviz.ui.host.components import show_tiles
from attnviz.ui.page.fragments import note
from attnviz.ui.server import cache
from attnviz.ui.server.pyramids import Build
from attnviz.ui.session import messages, state
from attnviz.views import heads
from attnviz.views.axes import token_axes
from attnviz.views.captured import Shown
from attnviz.views.texts import strings

if TYPE_CHECKING:
    from attnviz.tiles import Pyramid

PATIENCE_S = 0.25  # a head of some thousand tokens is built in less: then no progress is shown
POLL_S = 0.4
STAMP_CHARS = 16
SIDE = component.SIDE


@st.fragment(key="tiles")
def head(shown: Shown) -> None:
    """The chosen head of the first text; another one is built when it is asked for."""
    with messages.guard(shown.lang):
        place = HeadId(*shown.group.nearest(*state.place()))
        call, key = shown.group.call(place.layer), state.component_key("tiles")
        extent = replace(shown.group.extent, n_query=call.n_query, n_key=call.n_key)
        name = f"{shown.captured.key} {shown.group.shown} {place}"
        build = cache.pyramid(name, call, place.head, None if shown.group.cross else DISTANCE)
        build.wait(PATIENCE_S)
        st.caption(text(shown.lang, "tiles.note", tokens=f"{max(call.n_query, call.n_key):,}"))
        with st.container():  # holds its place, so that the component below stays where it is
            if build.state == "building":
                _building(shown.lang, build, place)
            elif build.state == "stopped":
                _stopped(shown.lang, name, place)
        asked = component.parse_want(state.component_value(key, "want"), extent)
        want = _fitting(asked, _stamp(name))
        data = cache.tiles(
            f"{name} {shown.lang} {build.state} {want}",
            lambda: component.pack_tiles(_data(shown, place, extent, build, want)),
        )
        show_tiles(data, key, on_selection=note(key, extent, redraw="tiles"))


@st.fragment(run_every=POLL_S)
def _building(lang: Language, build: Build, place: HeadId) -> None:
    """How far it is, and a way to stop it; the page runs again when it is over."""
    if build.state != "building":
        st.rerun()
    percent = f"{100 * build.fraction:.0f}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.progress(
            build.fraction,
            text=text(lang, "tiles.building", head=str(place), percent=percent),
            width="stretch",
        )
        st.button(
            text(lang, "tiles.cancel"), key=state.widget_key("tiles.cancel"), on_click=build.stop
        )


def _stopped(lang: Language, name: str, place: HeadId) -> None:
    """Nothing is shown of a head that was stopped, until it is asked for again."""
    st.info(text(lang, "tiles.stopped", head=str(place)))
    st.button(
        text(lang, "tiles.again"),
        key=state.widget_key("tiles.again"),
        on_click=cache.forget_pyramid,
        args=(name,),
    )


def _fitting(asked: Want, stamp: str) -> Want:
    """What was asked for, unless that was another head: then the head as seen from afar."""
    return asked if asked.stamp == stamp else replace(asked, stamp=stamp, tiles=(), cell=None)


def _stamp(*parts: str) -> str:
    return sha256(repr(parts).encode("utf-8")).hexdigest()[:STAMP_CHARS]


def _data(
    shown: Shown,
    place: HeadId,
    extent: Extent,
    build: Build,
    want: Want,
) -> TilesData:
    """One answer to the browser."""
    queries, keys = token_axes(shown, layer=place.layer)
    heard = "" if shown.captured.sound is None else shown.captured.sound.digest
    axes_stamp = _stamp(shown.lang, heard, *queries.labels, *keys.labels)
    pyramid, known = build.pyramid(), want.axes == axes_stamp
    data = TilesData(
        stamp=want.stamp,
        axes_stamp=axes_stamp,
        axes=None if known else (queries, keys),
        heard=None if known else heads.heard(shown),
        cross=shown.group.cross,
        layer=place.layer,
        head=place.head,
        extent=extent,
        top=attnviz.tiles.top_level(extent.n_query, extent.n_key),
        ready=pyramid is not None,
        want=want,
        strings=strings(shown.lang, component.STRING_KEYS),
    )
    if pyramid is None:
        return data
    levels = [level for level in (pyramid.top, pyramid.top - 1) if level >= 0]
    names = want.tiles or [name for level in levels for name in _all(pyramid, level)]
    codes, exact = _tiles(pyramid, names)
    cells = build.strongest(None if shown.group.cross else want.distance)
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
    """The tiles that exist among those asked for: as codes, and those of level 0 exact."""
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
    out = np.zeros((SIDE, SIDE), dtype=np.float32)
    rows, keys = (slice(at * SIDE, (at + 1) * SIDE) for at in (row, column))
    found = pyramid.weights(rows, keys)
    out[: found.shape[0], : found.shape[1]] = found
    return out
