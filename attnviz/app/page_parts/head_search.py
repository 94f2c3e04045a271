"""Two searches for a head: by a link from a query to a key, and by a pattern painted on a matrix.

In: what is shown, and the cell of the view. Out: all heads, ranked by how clearly they link the
cell (`pictures.group.ranking`), or by the share of their attention on the painted cells beside
chance; each opens on the page Head. The cell is that of the picture: a click
there asks anew, a choice here moves the picture's frame. The clearest heads are buttons, each with
its sum, written so that its rounded numbers add up; only heads above their control get one.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
import streamlit as st

from attnviz.app.host.draw import draw
from attnviz.app.server.shared import shared
from attnviz.app.session import address, address_bar, current, messages, routes, store, widgets
from attnviz.app.session.fragment import fragment
from attnviz.i18n import Language, text
from attnviz.i18n.numbers import local, number
from attnviz.pictures import mask_painter
from attnviz.pictures.group import groups, ranking
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.ranking import RankedHead
from attnviz.pictures.mask_painter import Cells
from attnviz.types import MEASURES, HeadId, Tokens

MAX_RANKED = 256  # a few numbers for each head
FRAGMENT = "head_links"
MOVED = "head_links.moved"
PAINTED = "drawn.cells"  # the key of what is shown, and the cells or the name of a pattern
N_SHOWN: Final = 6
MINUS = "\N{MINUS SIGN}"


@fragment(FRAGMENT)
def ask(shown: PageContext) -> None:
    """A switch, and below it the choice of a cell and the heads ranked for it."""
    if shown.group.uneven or not shown.size.all_at_once:
        return
    with messages.guard(shown.lang):
        lang = shown.lang
        if store.pop(MOVED):
            st.rerun()  # the picture has to show the cell that was chosen here
        if not st.toggle(
            text(lang, "links.title"), key=widgets.key("links"), help=text(lang, "links.help")
        ):
            return
        widgets.rerun_too(FRAGMENT)
        query, key = _cell(shown)
        if query is None or key is None:
            st.caption(text(lang, "links.choose"))
            return
        ranked = links(shown, query, key)
        columns = ("links.weight", "links.others")
        show_ranked(lang, "links", ranked, columns, _words(lang, ranked))


@shared(most=MAX_RANKED)
def links(shown: PageContext, query: int, key: int) -> tuple[RankedHead, ...]:
    """Every head's link from a query to a key, with its control, the clearest first."""
    return ranking.links(shown.group, query, key)


def _cell(shown: PageContext) -> tuple[int | None, int | None]:
    """The query and the key of the view, after two boxes that choose others."""
    place = current.view().place
    axes = {"query": groups.queries(shown.group), "key": groups.keys(shown.group)}
    chosen: dict[str, int | None] = {}
    for column, (name, tokens) in zip(st.columns(len(axes)), axes.items(), strict=True):
        position = getattr(place, name)
        chosen[name] = position if position is not None and position < len(tokens) else None
        widget = f"links.{name}.{shown.lang}"
        column.selectbox(
            text(shown.lang, f"links.{name}"),
            list(range(len(tokens))),
            key=widgets.showing(widget, chosen[name]),
            format_func=partial(_label, tokens),
            on_change=_take,
            args=(name, widget),
            placeholder=text(shown.lang, "links.placeholder"),
        )
    return chosen["query"], chosen["key"]


def _label(tokens: Tokens, index: int) -> str:
    return f"{messages.shortened(tokens.labels[index])} ({index})"


def _take(name: str, widget: str) -> None:
    current.take({name: widgets.value(widget)})
    address_bar.mount_anew()
    store.put(MOVED, True)


def _words(lang: Language, ranked: tuple[RankedHead, ...]) -> dict[HeadId, str]:
    """A sentence for each head: its weight, and what its other rows give the key."""
    return {
        row.head: text(
            lang,
            "links.result",
            head=str(row.head),
            weight=number(lang, row.share, ".3f"),
            others=number(lang, row.control, ".3f"),
        )
        for row in ranked
    }


@fragment("draw_a_pattern")
def draw_pattern(shown: PageContext) -> None:
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
            show_ranked(lang, "drawn", shares(shown, cells), ("drawn.share", "drawn.chance"))


@shared(most=MAX_RANKED)
def shares(shown: PageContext, cells: Cells) -> tuple[RankedHead, ...]:
    """Every head's share of attention on painted cells, beside chance, the clearest first."""
    return ranking.shares(shown.group, cells)


def _choice(shown: PageContext, patterns: dict[str, Cells], cells: Cells) -> None:
    """The palette: a box in which patterns are found by typing a word; it names the painted one."""
    lang = shown.lang
    painted = (name for name, pattern in patterns.items() if np.array_equal(pattern, cells))
    st.selectbox(
        text(lang, "drawn.palette"),
        list(patterns),
        key=widgets.showing(f"drawn.palette.{lang}", next(painted, None)),
        format_func=lambda name: text(
            lang, f"measure.{name}" if name in MEASURES else f"drawn.{name}"
        ),
        placeholder=text(lang, "drawn.placeholder"),
        on_change=_take_pattern,
        args=(lang, shown.key),
    )


def _take_pattern(lang: Language, key: str) -> None:
    name = widgets.value(f"drawn.palette.{lang}")
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


def show_ranked(
    lang: Language,
    name: str,
    ranked: tuple[RankedHead, ...],
    columns: tuple[str, str],
    words: Mapping[HeadId, str] | None = None,
) -> None:
    """The clearest heads as buttons, all in a table; `name` is that of the texts and of the keys.

    `columns` are the keys of the texts over share and control, `words` the helps of the buttons.
    """
    if not ranked:
        st.caption(text(lang, f"{name}.none"))
        return
    above = [row for row in ranked if row.difference > 0]
    st.caption(f"{text(lang, f'{name}.legend')} {_above(lang, len(above), len(ranked))}")
    helps = words or {}
    with st.container(horizontal=True):
        for row in above[:N_SHOWN]:
            label = f"**{row.head}** {_sum(lang, row)}"
            key = widgets.key(f"{name}.{row.head}")
            if st.button(label, key=key, help=helps.get(row.head)):
                _open(row.head)
        with st.popover(text(lang, "links.all", count=len(ranked))):
            _table(lang, ranked, columns)
    _place_of_shown(lang, ranked)


def _above(lang: Language, n_above: int, n_head: int) -> str:
    """The number of heads that are above their control."""
    if not n_above:
        return text(lang, "links.none_above")
    return text(lang, "links.above", above=n_above, count=n_head)


def _place_of_shown(lang: Language, ranked: tuple[RankedHead, ...]) -> None:
    """The place of the head that the picture shows, which may be far from the first."""
    place = current.view().place
    for rank, row in enumerate(ranked, 1):
        if (row.head.layer, row.head.head) == (place.layer, place.head):
            head, count = str(row.head), len(ranked)
            st.caption(
                text(lang, "links.place", head=head, sum=_sum(lang, row), rank=rank, count=count)
            )


def _table(lang: Language, ranked: tuple[RankedHead, ...], columns: tuple[str, str]) -> None:
    share, control = columns
    st.dataframe(
        {
            text(lang, "links.head"): [str(row.head) for row in ranked],
            text(lang, share): [row.share for row in ranked],
            text(lang, control): [row.control for row in ranked],
            text(lang, "links.difference"): [row.difference for row in ranked],
        },
        hide_index=True,
    )


def _sum(lang: Language, row: RankedHead) -> str:
    share, control = round(row.share, 3), round(row.control, 3)
    return local(lang, f"{share:.3f} {MINUS} {control:.3f} = {share - control:.3f}")


def _open(head: HeadId) -> None:
    """Show a head on the page Head, at the cell of the view."""
    view = current.view()
    place = replace(view.place, layer=head.layer, head=head.head, mean=None)
    current.update(replace(view, place=place))
    address_bar.mount_anew()
    st.switch_page(routes.file("head"), query_params=address.params(current.view()))
