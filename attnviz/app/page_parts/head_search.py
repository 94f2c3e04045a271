"""Two searches for a head: by a link from a query to a key, and by a pattern painted on a matrix.

In: what is shown, and the cell of the view. Out: all heads, ranked by how clearly they link the
cell (`pictures.group.ranking`), or by the share of their attention on the painted cells beside
chance. The cell is that of the picture: a click there asks anew, a choice here moves the picture's
frame. The clearest heads are small pictures (`pictures.found`), marked in the grid of all heads
too; only heads above their control are shown. Words and table have the numbers.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
import streamlit as st

from attnviz.app.frame import fragments
from attnviz.app.frame.choices import renew, toggle
from attnviz.app.host.draw import draw
from attnviz.app.server.shared import shared
from attnviz.app.session import address_bar, current, messages, store, widgets
from attnviz.app.session.fragment import fragment
from attnviz.i18n import Language, text
from attnviz.i18n.numbers import local, number
from attnviz.pictures import found, mask_painter
from attnviz.pictures.group import groups, ranking
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.axes import token_axes
from attnviz.pictures.group.heads import capture_name
from attnviz.pictures.group.ranking import RankedHead
from attnviz.pictures.mask_painter import Cells
from attnviz.summary import shortened
from attnviz.types import MEASURES, HeadId

MAX_RANKED = 256  # a few numbers for each head
FRAGMENT = fragments.ANSWERS["links"]
MOVED = "head_links.moved"
PATTERN = "draw_a_pattern"
FIRST = "previous"  # the pattern that is asked for at first
N_SHOWN: Final = 6
MINUS = "\N{MINUS SIGN}"


@fragment(FRAGMENT)
def ask(shown: PageContext, grows: bool) -> None:
    """A switch, and below it the choice of a cell and the heads ranked for it.

    `grows` is True where the heads stand on the page, to grow there.
    """
    if shown.group.uneven or not shown.size.all_at_once:
        return
    with messages.guard(shown.lang):
        lang = shown.lang
        if store.pop(MOVED):
            st.rerun()  # the picture has to show the cell that was chosen here
        if not toggle(text(lang, "links.title"), "links", FRAGMENT, tip=text(lang, "links.help")):
            return
        widgets.rerun_too(FRAGMENT)
        query, key = _cell(shown)
        if query is None or key is None:
            st.caption(text(lang, "links.choose"))
            return
        ranked = links(shown, query, key)
        columns = ("links.weight", "links.others")
        show_ranked(shown, "links", ranked, columns, grows, (query, key))


@shared(most=MAX_RANKED)
def links(shown: PageContext, query: int, key: int) -> tuple[RankedHead, ...]:
    """Every head's link from a query to a key, with its control, the clearest first."""
    return ranking.links(shown.group, query, key)


def _cell(shown: PageContext) -> tuple[int | None, int | None]:
    """The query and the key of the view, after two boxes that choose others."""
    place = current.view().place
    queries, keys = token_axes(shown)
    axes = {"query": queries.rows, "key": keys.labels}
    chosen: dict[str, int | None] = {}
    for column, (name, labels) in zip(st.columns(len(axes)), axes.items(), strict=True):
        position = getattr(place, name)
        chosen[name] = position if position is not None and position < len(labels) else None
        widget = f"links.{name}.{shown.lang}"
        column.selectbox(
            text(shown.lang, f"links.{name}"),
            list(range(len(labels))),
            key=widgets.showing(widget, chosen[name]),
            format_func=partial(_label, labels),
            on_change=_take,
            args=(name, widget),
            placeholder=text(shown.lang, "links.placeholder"),
        )
    return chosen["query"], chosen["key"]


def _label(labels: Sequence[str], index: int) -> str:
    return f"{shortened(labels[index])} ({index})"


def _take(name: str, widget: str) -> None:
    chosen = widgets.value(widget)
    current.take({name: chosen if isinstance(chosen, int) else None})
    address_bar.mount_anew()
    store.put(MOVED, True)


@fragment(PATTERN)
def draw_pattern(shown: PageContext, grows: bool) -> None:
    """A switch, and below it palette, matrix and heads."""
    if shown.group.uneven or not shown.size.all_at_once:
        return
    with messages.guard(shown.lang):
        lang = shown.lang
        st.toggle(
            text(lang, "drawn.title"),
            key=widgets.showing("drawn", bool(current.view().inside.drawn)),
            help=text(lang, "drawn.help"),
            on_change=_take_drawn,
        )
        if not current.view().inside.drawn:
            return
        patterns = ranking.palette(shown.group)
        cells = _painted(patterns)
        _choice(shown, patterns, cells)
        matrix, heads = st.columns(2)
        with matrix:
            _painter(shown, cells)
        with heads:
            show_ranked(
                shown, "drawn", shares(shown, cells), ("drawn.share", "drawn.chance"), grows
            )


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
        args=(lang,),
    )


def _take_drawn() -> None:
    _draw(FIRST if widgets.value("drawn") else "")


def _take_pattern(lang: Language) -> None:
    name = widgets.value(f"drawn.palette.{lang}")
    if name is not None:
        _draw(name)


def _draw(drawn: str) -> None:
    """Ask for another pattern, by its name or its cells."""
    current.take({"drawn": drawn})
    renew(PATTERN)


def _painted(patterns: dict[str, Cells]) -> Cells:
    """The cells of the chosen pattern, or those painted for this length; else the first."""
    drawn, first = current.view().inside.drawn, next(iter(patterns.values()))
    if drawn in patterns:
        return patterns[drawn]
    painted = mask_painter.read(drawn, (first.shape[0], first.shape[1]))
    return first if painted is None else painted


def _painter(shown: PageContext, cells: Cells) -> None:
    """The matrix to paint on, for texts whose cells can be told apart."""
    if max(cells.shape) > mask_painter.MAX_TOKENS:
        st.caption(text(shown.lang, "drawn.too_long", count=mask_painter.MAX_TOKENS))
        return
    queries, keys = token_axes(shown)
    view = mask_painter.MaskPainterView(queries.rows, keys.labels, cells)
    shape = cells.shape

    def take(sent: object) -> None:
        painted = mask_painter.parse(sent, shape)
        if painted is not None:
            _draw(mask_painter.write(painted))

    draw(mask_painter.CANVAS, view, "mask_painter", shown.lang, {"cells": take})


def show_ranked(
    shown: PageContext,
    name: str,
    ranked: tuple[RankedHead, ...],
    columns: tuple[str, str],
    grows: bool,
    cell: tuple[int | None, int | None] = (None, None),
) -> None:
    """The clearest heads as small pictures, all in a table; `name` is that of texts and keys.

    `columns` are the keys of the texts over share and control, `cell` is what was asked for.
    """
    lang = shown.lang
    if not ranked:
        st.caption(text(lang, f"{name}.none"))
        return
    above = [row for row in ranked if row.difference > 0]
    above_control = text(lang, "links.none_above")
    if above:
        above_control = text(lang, "links.above", above=len(above), count=len(ranked))
    st.caption(f"{text(lang, f'{name}.legend')} {above_control}")
    if above:
        view = _found(shown, above[:N_SHOWN], cell, grows)
        extent = shown.size.extent
        draw(found.CANVAS, view, f"found.{name}", lang, {"open": fragments.open_head(extent)})
    with st.popover(text(lang, "links.all", count=len(ranked))):
        _table(lang, ranked, columns)
    _place_of_shown(lang, ranked)


def _found(
    shown: PageContext,
    rows: list[RankedHead],
    cell: tuple[int | None, int | None],
    grows: bool,
) -> found.FoundView:
    """The clearest heads with their weights, and in words what was found of each."""
    layers: dict[HeadId, np.ndarray] = {}
    for layer, weights in enumerate(groups.each_layer(shown.group)):
        kept = shown.group.call(layer).kept_heads
        here = (row.head for row in rows if row.head.layer == layer)
        layers |= {head: weights[kept.index(head.head)] for head in here}
    heads = tuple(
        found.FoundHead(
            row.head.layer, row.head.head, row.share, row.control, _words(shown.lang, row, cell)
        )
        for row in rows
    )
    weights = np.stack([layers[row.head] for row in rows])[None]
    return found.FoundView(heads, weights, capture_name(shown), *cell, grows)


def _words(lang: Language, row: RankedHead, cell: tuple[int | None, int | None]) -> str:
    """A head's share and control in words."""
    if cell == (None, None):
        return f"{row.head}: {_sum(lang, row)}"
    weight, others = (number(lang, part, ".3f") for part in (row.share, row.control))
    return text(lang, "links.result", head=str(row.head), weight=weight, others=others)


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
