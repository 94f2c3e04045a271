"""Board: matrices from left to right with what stands between them, as a lesson shows them.

In: a frozen `BoardView` and translated strings. Out of `show_board`: the cell that a visitor chose
as an answer, validated, or None. A small matrix is a table with its numbers, a large one a heatmap
that names the cell under the pointer. `asks` names the panels whose cells answer a question.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from attnviz.components.buffer import Packable, pack
from attnviz.lessons.cards.card import Board, BoardCell, Panel
from attnviz.lessons.cards.ranges import largest

NAME = "attnviz.board"
STRING_KEYS: tuple[str, ...] = (
    "board.cell",
    "board.blocked",
    "board.hidden",
    "board.sum",
    "board.hint",
    "board.elsewhere",
    "board.right",
    "board.answer",
    "board.wrong",
    "board.given",
    "board.size",
)


@dataclass(frozen=True)
class BoardView:
    """A board with its captions by panel name; the chosen cell of the asking panels, if any.

    `is_open` while an answer is awaited; `narrow` draws wider matrices without their numbers.
    `right` tells whether that cell is the answer, None where that is not said yet; `answers` are
    the cells that are, once that is said. `ranges` has the largest value of each scale. A board
    that `reports` sends every cell that is chosen; `pointed` (panel, row, column) stays marked.
    """

    board: Board
    captions: Mapping[str, str] = field(default_factory=dict)
    revealed: bool = True
    asks: tuple[str, ...] = ()
    chosen: BoardCell | None = None
    right: bool | None = None
    answers: frozenset[BoardCell] = frozenset()
    ranges: Mapping[str, float] = field(default_factory=dict)
    is_open: bool = False
    narrow: bool = False
    reports: bool = False
    pointed: tuple[int, int, int] | None = None


def pack_board(view: BoardView, strings: Mapping[str, str]) -> bytes:
    """The buffer of a board: values, blocked cells and sums of each panel by its place."""
    arrays: dict[str, Packable] = {}
    panels = []
    for place, panel in enumerate(view.board.panels):
        hidden = panel.hidden and not view.revealed
        shown = np.zeros_like(panel.values) if hidden else panel.values
        arrays[f"values{place}"] = np.ascontiguousarray(shown, dtype=np.float32)
        nothing = panel.blocked is None or hidden
        blocked = np.zeros(shown.shape, bool) if nothing else np.asarray(panel.blocked)
        arrays[f"blocked{place}"] = blocked.astype(np.uint8)
        for axis, name in ((1, "row_sums"), (0, "column_sums")):
            sums = np.where(blocked, 0.0, shown).sum(axis=axis)
            arrays[f"{name}{place}"] = sums.astype(np.float32)
        panels.append(_panel(view, panel))
    chosen = None if view.chosen is None else list(view.chosen)
    header = {
        "strings": dict(strings),
        "panels": panels,
        "chosen": chosen,
        "right": view.right,
        "answers": [list(cell) for cell in sorted(view.answers)],
        "open": view.is_open,
        "narrow": view.narrow,
        "reports": view.reports,
        "pointed": None if view.pointed is None else list(view.pointed),
    }
    return pack(header, arrays)


def _panel(view: BoardView, panel: Panel) -> dict[str, object]:
    n_rows, n_columns = panel.values.shape
    hidden = panel.hidden and not view.revealed
    own = 0.0 if hidden else largest(panel)
    return {
        "name": panel.name,
        "caption": view.captions.get(panel.name, panel.name),
        "before": panel.before,
        "rows": list(panel.rows or map(str, range(n_rows))),
        "columns": list(panel.columns or map(str, range(n_columns))),
        "decimals": panel.decimals,
        "signed": panel.signed,
        "most": view.ranges.get(panel.scale, own),
        "sums": panel.sums,
        "hidden": hidden,
        "marked": [] if hidden else [list(cell) for cell in panel.marked],
        "asks": panel.name in view.asks,
    }


def parse_cell(value: object, panel: Panel) -> BoardCell | None:
    """The chosen cell of a panel; None when it is malformed or out of range."""
    if not isinstance(value, Mapping) or value.get("panel") != panel.name:
        return None
    row, column = value.get("row"), value.get("column")
    if type(row) is not int or type(column) is not int:
        return None
    n_rows, n_columns = panel.values.shape
    return (row, column) if 0 <= row < n_rows and 0 <= column < n_columns else None
