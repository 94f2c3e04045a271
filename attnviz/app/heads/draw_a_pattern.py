"""Draw a pattern: all heads, ranked by the share of their attention on painted cells beside chance.

In: what is shown. Out: a palette of patterns that can be searched by words, a matrix to paint on,
and the clearest heads (`attnviz.pictures.group.ranking`), each opening its head on the page Head.
"""

import numpy as np
import streamlit as st

from attnviz.app.heads import ranked_heads
from attnviz.app.host.draw import draw
from attnviz.app.server.shared import shared
from attnviz.app.session import messages, store, widgets
from attnviz.app.session.fragment import fragment
from attnviz.i18n import Language, text
from attnviz.pictures import mask_painter
from attnviz.pictures.group import groups, ranking
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.ranking import RankedHead
from attnviz.pictures.mask_painter import Cells
from attnviz.types import MEASURES

MAX_RANKED = 256  # a few numbers for each head
PAINTED = "drawn.cells"  # the key of what is shown, and the cells or the name of a pattern


@fragment("draw_a_pattern")
def show(shown: PageContext) -> None:
    """A switch, and below it palette, matrix and heads."""
    if shown.group.uneven or not shown.size.all_at_once:
        return
    with messages.guard(shown.lang):
        lang = shown.lang
        if not st.toggle(
            text(lang, "drawn.title"), key=widgets.key("drawn"), help=text(lang, "drawn.help")
        ):
            return
        patterns = ranking.palette(shown.group)
        cells = _painted(shown, patterns)
        _choice(shown, patterns, cells)
        matrix, heads = st.columns(2)
        with matrix:
            _painter(shown, cells)
        with heads:
            ranked_heads.show(lang, "drawn", shares(shown, cells), ("drawn.share", "drawn.chance"))


@shared(most=MAX_RANKED)
def shares(shown: PageContext, cells: Cells) -> tuple[RankedHead, ...]:
    """Every head's share of attention on painted cells, beside chance, the clearest first."""
    return ranking.shares(shown.group, cells)


def _choice(shown: PageContext, patterns: dict[str, Cells], cells: Cells) -> None:
    """The palette: a box in which patterns are found by typing a word; it names the painted one."""
    lang = shown.lang
    painted = (name for name, pattern in patterns.items() if np.array_equal(pattern, cells))
    st.selectbox(
        text(lang, "ranking.palette"),
        list(patterns),
        key=widgets.showing(f"ranking.palette.{lang}", next(painted, None)),
        format_func=lambda name: text(
            lang, f"measure.{name}" if name in MEASURES else f"drawn.{name}"
        ),
        placeholder=text(lang, "drawn.placeholder"),
        on_change=_take_pattern,
        args=(lang, shown.key),
    )


def _take_pattern(lang: Language, key: str) -> None:
    name = widgets.value(f"ranking.palette.{lang}")
    if name is not None:
        store.put(PAINTED, (key, name))


def _painted(shown: PageContext, patterns: dict[str, Cells]) -> Cells:
    """The cells painted on this text, or those of the chosen pattern: the first one at first."""
    key, painted = store.get(PAINTED, ("", None))
    if key != shown.key:
        return next(iter(patterns.values()))
    return patterns[painted] if isinstance(painted, str) else np.asarray(painted)


def _painter(shown: PageContext, cells: Cells) -> None:
    """The matrix to paint on, for texts whose cells can be told apart."""
    if max(cells.shape) > mask_painter.MAX_TOKENS:
        st.caption(text(shown.lang, "drawn.too_long", count=mask_painter.MAX_TOKENS))
        return
    queries, keys = groups.queries(shown.group), groups.keys(shown.group)
    view = mask_painter.MaskPainterView(queries.labels, keys.labels, cells)
    component, key, shape = widgets.component_key("mask_painter"), shown.key, cells.shape

    def take() -> None:
        painted = mask_painter.parse(widgets.component_value(component, "cells"), shape)
        if painted is not None:
            store.put(PAINTED, (key, painted))

    draw(mask_painter.CANVAS, view, component, shown.lang, {"cells": take})
