"""A card's pictures: boards, charts, real heads, programs.

In: a picture of `lessons.cards.card` with the card's texts. Out: a drawn picture. A board whose
cells answer the card's question takes answers until the right one was given.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from attnviz.app.host.draw import draw
from attnviz.app.page_parts.learn import birth, open_card, pointer, real
from attnviz.app.page_parts.learn.card_shown import CardShown
from attnviz.app.session import widgets
from attnviz.figures import charts
from attnviz.i18n import joined, text
from attnviz.pictures import board as boards
from attnviz.pictures import motion as motions
from attnviz.pictures.board import Board, BoardCell, BoardView, Panel
from attnviz.pictures.motion import Motion, MotionView
from attnviz.teach.lessons.cards import progress
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    Chart,
    Picture,
    Program,
    RealHead,
    ranges,
)
from attnviz.types import ignore

CHART_PX = 760
CHART_CONFIG = {"displayModeBar": False, "scrollZoom": False}


def show(shown: CardShown, picture: Picture, name: str, narrow: bool = False) -> None:
    """Draw a picture; its `name` is unique on its card, `narrow` fits it into a column."""
    key = f"learn.{shown.card.name}.{name}"
    if isinstance(picture, Board):
        _board(shown, picture, key, narrow)
    elif isinstance(picture, Chart):
        _chart(shown, picture, key)
    elif isinstance(picture, Program):
        st.code(picture.source, language="python")
    elif isinstance(picture, RealHead):
        real.show(shown.lang, picture)
    elif isinstance(picture, Motion):
        take = partial(_take_numbers, picture, shown.card.name)
        draw(motions.CANVAS, motion_view(shown, picture), key, shown.lang, {"set": take})
    else:
        birth.show(shown.lang, picture.seed, picture.shown)


def _chart(shown: CardShown, chart: Chart, key: str) -> None:
    plain = partial(shown.say, markup=False)
    lines = [charts.Line(plain(f"series.{line.name}"), line.x, line.y) for line in chart.series]
    x, y = plain(f"axis.{chart.x}"), plain(f"axis.{chart.y}")
    figure = charts.chart(lines, x, y, log_x=chart.log_x, bars=chart.bars, marked_x=chart.marked_x)
    st.plotly_chart(
        figure,
        key=widgets.key(key),
        config=CHART_CONFIG,
        width=CHART_PX,
        alt=text(
            shown.lang,
            "learn.chart",
            x=x,
            y=y,
            series=joined(shown.lang, (line.label for line in lines)),
        ),
    )


def motion_view(shown: CardShown, motion: Motion) -> MotionView:
    """A moving picture with the card's sentences for its scenes."""
    plain = partial(shown.say, markup=False)
    named = {axis: tuple(map(plain, keys)) for axis, keys in motion.named.items()}
    captions = {scene: plain(f"scene.{scene}") for scene in motion.played}
    handles = {handle: plain(f"handle.{handle}") for handle in motion.handles}
    return MotionView(motion, plain("title"), captions, {**motion.labels, **named}, handles)


def _take_numbers(motion: Motion, card: str, sent: object) -> None:
    """Set the card's controls to the numbers that were set by hand in a moving picture."""
    for name, number in motions.parse(sent, motion.values).items():
        open_card.set_nearest(card, name, number)


def _board(shown: CardShown, picture: Board, key: str, narrow: bool) -> None:
    asking = asking_panels(shown.card, picture)
    target = pointer.pointing()  # what the class is pointed at
    pointed = target.at if target is not None and target.picture == key else None
    view = board_view(shown, picture, pointed=pointed, narrow=narrow, reports=pointer.leads())
    take: Callable[[object], None] = ignore
    if asking and shown.is_open:
        take = partial(_take_cell, asking, shown.card.name)
    if pointer.leads():
        take = partial(_take_point, picture, key)
    draw(boards.CANVAS, view, key, shown.lang, {"cell": take})


def board_view(
    shown: CardShown,
    picture: Board,
    *,
    pointed: tuple[int, int, int] | None,
    narrow: bool = False,
    reports: bool = False,
    roomy: bool = False,
) -> BoardView:
    """The board with the answer that was given, if its cells answer the card's question."""
    card, is_open, verdict = shown.card, shown.is_open, shown.verdict
    leads = reports and is_open  # its clicks point, they answer nothing
    asking = () if leads else asking_panels(card, picture)
    chosen = None
    if asking and card.question is not None:
        answer = progress.answer_of(card.question, shown.answer)
        chosen = answer if isinstance(answer, tuple) else None
    return BoardView(
        picture,
        {panel.name: shown.say(f"panel.{panel.name}", markup=False) for panel in picture.panels},
        revealed=not is_open,
        asks=tuple(panel.name for panel in asking),
        is_open=is_open,
        narrow=narrow,
        chosen=chosen,
        right=None if verdict is None else verdict.right,
        answers=_answers(card) if asking and not is_open else frozenset(),
        ranges=ranges(card),
        reports=reports,
        pointed=pointed,
        roomy=roomy,
    )


def _take_point(picture: Board, key: str, sent: object) -> None:
    """Point the class at a cell; it answers nothing: that would reveal."""
    before = pointer.pointing()
    for number, panel in enumerate(picture.panels):
        cell = boards.parse_cell(sent, panel)
        if cell is not None and before is not None:
            pointer.point(replace(before, picture=key, at=(number, *cell)))


def asking_panels(card: Card, picture: Board) -> tuple[Panel, ...]:
    """The panels of a board whose cells answer the card's question; none on another board."""
    question, panels = card.question, picture.panels
    names = {panel.name for panel in panels}
    if not isinstance(question, CellQuestion) or question.panel not in names:
        return ()
    return tuple(panel for panel in panels if panel.name in question.panels)


def _answers(card: Card) -> frozenset[BoardCell]:
    """The cells that answer the card's question."""
    return card.question.right if isinstance(card.question, CellQuestion) else frozenset()


def _take_cell(panels: tuple[Panel, ...], card: str, sent: object) -> None:
    for panel in panels:
        cell = boards.parse_cell(sent, panel)
        if cell is not None:
            open_card.answer(card, progress.text_of(cell))
