"""A cell that everyone clicks: the presenter asks for one, the class sees how all have clicked.

In: the matrices of a card, or the weights of its real head. Out: for followers a board to click,
for all after the reveal the number of clicks on each cell as a heatmap. The room checks each cell
and bounds how often one follower clicks.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from attnviz.app.host.draw import draw
from attnviz.app.page_parts.learn import pointer
from attnviz.app.page_parts.learn.card_shown import CardShown
from attnviz.app.server import course_lessons
from attnviz.app.server.class_socket import rooms
from attnviz.app.session import current, messages, store, widgets
from attnviz.errors import AttnVizError
from attnviz.i18n import text
from attnviz.pictures import board as boards
from attnviz.pictures.board import Board, BoardCell, BoardView, Panel
from attnviz.teach.classroom.stage import CellRequest, Stage
from attnviz.teach.lessons.cards.card import RealHead
from attnviz.types import ignore

ASKED = "class.asked"  # a card, and what the class is asked for on it
CLICKED = "class.clicked"  # this session's own cells, by room, card and target
CLICKS = "clicks"


def asked(card: str) -> CellRequest | None:
    """The matrix of the card of which the presenter asks for a cell."""
    kept: tuple[str, CellRequest] | None = store.get(ASKED)
    return kept[1] if kept is not None and kept[0] == card else None


def ask(shown: CardShown, *, revealed: bool) -> None:
    """The presenter's buttons: ask for a cell of a matrix, show what was clicked, ask no more."""
    lang, name = shown.lang, shown.card.name
    panels = dict(_panels(shown, {}, revealed=revealed))
    if not panels:
        return
    asking = asked(name)
    with st.expander(text(lang, "class.cell")):
        st.markdown(text(lang, "class.cell_body"))
        if asking is not None:
            _button(shown, "cell_show", (name, replace(asking, shown=True)), "primary")
            _button(shown, "cell_end", None)
        for target, (panel, caption) in panels.items():
            rows, columns = panel.values.shape
            st.button(
                text(lang, "class.cell_of", panel=messages.plain(caption)),
                key=widgets.key(f"class.cell.{target}"),
                on_click=store.put,
                args=(ASKED, (name, CellRequest(f"{name}/{target}", rows, columns))),
            )


def _button(shown: CardShown, name: str, kept: object, kind: str = "secondary") -> None:
    st.button(
        text(shown.lang, f"class.{name}"),
        key=widgets.key(f"class.{name}"),
        type="primary" if kind == "primary" else "secondary",
        on_click=store.put,
        args=(ASKED, kept),
    )


def show(shown: CardShown, stage: Stage, *, answers: bool) -> None:
    """Draw what the class is asked for: a board to click, then the clicks of all.

    Without `answers`, as for who leads and on the wall, nothing is clicked here.
    """
    if stage.asked is None:
        return
    panels = _panels(shown, pointer.read_chosen(stage.selection), revealed=stage.revealed)
    target = stage.asked.target.removeprefix(f"{shown.card.name}/")
    entry = dict(panels).get(target)
    if entry is None or entry[0].values.shape != (stage.asked.rows, stage.asked.columns):
        return
    with st.container(border=True, key=widgets.key("class.asked")):
        if stage.asked.shown:
            _clicks(shown, *entry)
        else:
            st.markdown(f"**{text(shown.lang, 'class.click')}**")
            _board_to_click(shown, stage, *entry, answers=answers)


def _board_to_click(
    shown: CardShown, stage: Stage, panel: Panel, caption: str, *, answers: bool
) -> None:
    assert stage.asked is not None
    room = current.view().classroom.room
    name = (room, stage.name, stage.asked.target)
    own: Mapping[object, BoardCell] = store.get(CLICKED) or {}
    view = BoardView(
        Board((panel,)),
        {panel.name: caption},
        revealed=stage.revealed,
        asks=(panel.name,) if answers else (),
        is_open=answers,
        chosen=own.get(name),
    )
    lang = shown.lang
    take: Callable[[object], None] = partial(_take, panel, name) if answers else ignore
    draw(boards.CANVAS, view, "class.click", lang, {"cell": take})
    if name in own:
        st.caption(text(shown.lang, "class.clicked_own"))


def _take(panel: Panel, name: tuple[str, tuple[str, str], str], sent: object) -> None:
    """Have the class count the cell; what the room refuses is said and not kept."""
    cell = boards.parse_cell(sent, panel)
    if cell is None:
        return
    seat = current.view().classroom
    try:
        rooms().click(seat.room, seat.seat, name[2], cell)
    except AttnVizError as error:
        messages.show(current.language(), error)
        return
    store.put(CLICKED, {**(store.get(CLICKED) or {}), name: cell})


def _clicks(shown: CardShown, panel: Panel, caption: str) -> None:
    """The number of clicks on each cell, as a heatmap with the names of the panel."""
    counts = rooms().clicks(current.view().classroom.room)
    values = np.zeros(panel.values.shape)
    for cell, count in counts.items():
        values[cell] = count
    clicks = Panel(CLICKS, values, rows=panel.rows, columns=panel.columns, decimals=0, signed=False)
    n_clicks = sum(counts.values())
    st.markdown(f"**{text(shown.lang, 'class.clicks', count=n_clicks)}**")
    view = BoardView(Board((clicks,)), {CLICKS: caption})
    draw(boards.CANVAS, view, "class.clicks", shown.lang, {"cell": ignore})


def _panels(
    shown: CardShown, chosen: Mapping[str, int | None], *, revealed: bool
) -> Iterator[tuple[str, tuple[Panel, str]]]:
    """The matrices of a card by the name of their place, with their captions.

    Those of the reveal only once the answer is known.
    """
    card = shown.card
    for number, picture in enumerate((*card.pictures, *(card.reveal if revealed else ()))):
        if isinstance(picture, Board):
            for panel in picture.panels:
                caption = shown.say(f"panel.{panel.name}", markup=False)
                yield f"{number}/{panel.name}", (replace(panel, before=""), caption)
        elif isinstance(picture, RealHead):
            from attnviz.teach.course import paper  # loads torch, which the head above needed

            real = _as_chosen(picture, chosen)
            panel_of_head = paper.weights(course_lessons.capture, real)
            if panel_of_head is not None:  # it fits a board
                head = f"L{real.layer}.H{real.head}"
                caption = text(shown.lang, "worksheet.weights", head=head, model=real.model)
                yield f"{number}/weights", (panel_of_head, caption)


def _as_chosen(real: RealHead, chosen: Mapping[str, int | None]) -> RealHead:
    layer, head = chosen.get("layer"), chosen.get("head")
    if layer is None or head is None:
        return real
    return replace(real, layer=layer, head=head)
