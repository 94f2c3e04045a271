"""A table of texts, each with a colour or a bar behind it.

In: a frozen `TableView` whose texts are already translated. Out: the `opens` of a cell that was
clicked. It shows several numbers of the same things side by side, or what a model would say after
each of its layers.
"""

from dataclasses import dataclass
from typing import Literal

from attnviz.pictures.shared.canvas import Canvas


@dataclass(frozen=True)
class TableCell:
    """A text, perhaps a small number, and how much of the cell is filled, −1 to 1.

    `note` is shown under the pointer. `opens` is what a click sends, "" for a cell that is no
    button.
    """

    text: str
    share: float = 0.0
    note: str = ""
    number: str = ""
    opens: str = ""


@dataclass(frozen=True)
class TableRow:
    """A row with its name; `mark` says in words why it is set apart."""

    label: str
    cells: tuple[TableCell, ...]
    mark: str = ""


@dataclass(frozen=True)
class TableView:
    """A table: `corner` is above the names of the rows. "bars" are signed, "tint" is a colour.

    `chosen` is the `opens` of the cell that is open.
    """

    caption: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    kind: Literal["bars", "tint"] = "bars"
    note: str = ""
    chosen: str = ""


CANVAS = Canvas("table", (TableView,))
