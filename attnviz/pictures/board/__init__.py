"""Board: matrices from left to right with what stands between them, as a lesson shows them.

In: a frozen `BoardView`. Out: the cell that a visitor chose as an answer (`parse_cell`). A small
matrix is a table with its numbers, a large one a heatmap that names the cell under the pointer.
`asks` names the panels whose cells answer a question.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Bool, Float32, Float64

from attnviz.pictures.shared.canvas import LOCAL, Canvas, derived

BoardCell = tuple[int, int]
Sums = Literal["none", "rows", "columns", "both"]


@dataclass(frozen=True, eq=False)
class Panel:
    """One matrix of a board; `before` stands between it and the one before it: "·", "=", "→".

    Its caption is the text "panel.<name>" of the card. Rows and columns are named by `rows` and
    `columns`, by numbers where these are empty. `blocked` cells are hatched, `marked` cells are
    outlined; `sums` asks for the sums of rows or columns beside it. `hidden` panels keep their
    numbers back until the card's question is answered. Panels of a card that have the same `scale`
    hold the same kind of number: their colours share one range. `asked_elsewhere` are cells that
    answer another card's question: on a worksheet, which has all cards at once, they are empty.
    """

    name: str
    values: Float64[np.ndarray, "row column"]
    before: str = ""
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    decimals: int = 2
    signed: bool = True
    scale: str = ""
    blocked: Bool[np.ndarray, "row column"] | None = None
    marked: tuple[BoardCell, ...] = ()
    sums: Sums = "none"
    hidden: bool = False
    asked_elsewhere: tuple[BoardCell, ...] = ()


@dataclass(frozen=True)
class Board:
    """Matrices from left to right, wrapped where the page is narrow.

    A worksheet leaves the panels named in `blank_on_paper` empty: there they would answer the
    question of another card.
    """

    panels: tuple[Panel, ...]
    blank_on_paper: tuple[str, ...] = ()


def largest(panel: Panel) -> float:
    """The largest finite absolute value of a panel; 0 for none."""
    finite = panel.values[np.isfinite(panel.values)]
    return float(np.abs(finite).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class BoardPanel:
    """A matrix as it is drawn, its numbers 0 while they are hidden.

    `most` is the value that has the last colour.
    """

    name: str
    caption: str
    before: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    decimals: int
    signed: bool
    most: float
    sums: Sums
    hidden: bool
    marked: tuple[BoardCell, ...]
    asks: bool
    values: Float32[np.ndarray, "row column"]
    blocked: Bool[np.ndarray, "row column"]
    row_sums: Float32[np.ndarray, " row"]
    column_sums: Float32[np.ndarray, " column"]


@dataclass(frozen=True)
class BoardView:
    """A board with its captions by panel name; the chosen cell of the asking panels, if any.

    `is_open` while an answer is awaited; `narrow` draws wider matrices without their numbers.
    `right` tells whether that cell is the answer, None where that is not said yet; `answers` are
    the cells that are, once that is said. `ranges` has the largest value of each scale. A board
    that `reports` sends every cell that is chosen; `pointed` (panel, row, column) stays marked. The
    cells of a `roomy` board stay as large as a fingertip: what does not fit is scrolled.
    """

    board: Annotated[Board, LOCAL]
    captions: Annotated[Mapping[str, str], LOCAL] = field(default_factory=dict)
    revealed: Annotated[bool, LOCAL] = True
    asks: Annotated[tuple[str, ...], LOCAL] = ()
    chosen: BoardCell | None = None
    right: bool | None = None
    answers: frozenset[BoardCell] = frozenset()
    ranges: Annotated[Mapping[str, float], LOCAL] = field(default_factory=dict)
    is_open: bool = False
    narrow: bool = False
    reports: bool = False
    pointed: tuple[int, int, int] | None = None
    roomy: bool = False

    @derived
    def panels(self) -> tuple[BoardPanel, ...]:
        """The matrices, from left to right."""
        return tuple(_shown(self, panel) for panel in self.board.panels)


CANVAS = Canvas("board", (BoardView,))


def _shown(view: BoardView, panel: Panel) -> BoardPanel:
    """A panel as it is drawn; its sums leave blocked cells out."""
    n_rows, n_columns = panel.values.shape
    hidden = panel.hidden and not view.revealed
    values = np.zeros_like(panel.values) if hidden else panel.values
    blocked = np.zeros(values.shape, np.bool_)
    if panel.blocked is not None and not hidden:
        blocked = np.asarray(panel.blocked)
    open_values = np.where(blocked, 0.0, values)
    return BoardPanel(
        name=panel.name,
        caption=view.captions.get(panel.name, panel.name),
        before=panel.before,
        rows=panel.rows or tuple(map(str, range(n_rows))),
        columns=panel.columns or tuple(map(str, range(n_columns))),
        decimals=panel.decimals,
        signed=panel.signed,
        most=view.ranges.get(panel.scale, 0.0 if hidden else largest(panel)),
        sums=panel.sums,
        hidden=hidden,
        marked=() if hidden else panel.marked,
        asks=panel.name in view.asks,
        values=np.asarray(values, np.float32),
        blocked=blocked,
        row_sums=np.asarray(open_values.sum(axis=1), np.float32),
        column_sums=np.asarray(open_values.sum(axis=0), np.float32),
    )


def parse_cell(value: object, panel: Panel) -> BoardCell | None:
    """The chosen cell of a panel; None when it is malformed or out of range."""
    if not isinstance(value, Mapping) or value.get("panel") != panel.name:
        return None
    row, column = value.get("row"), value.get("column")
    if type(row) is not int or type(column) is not int:
        return None
    n_rows, n_columns = panel.values.shape
    return (row, column) if 0 <= row < n_rows and 0 <= column < n_columns else None
