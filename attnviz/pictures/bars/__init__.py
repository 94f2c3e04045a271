"""Bars: named probabilities as rows of name, bar and number; perhaps a second number beside it.

In: a frozen `BarsView` whose texts are already translated. Nothing comes back. Other canvases draw
the same bars with `shared/bars.js`.
"""

from dataclasses import dataclass

from attnviz.pictures.shared.bars import Bar
from attnviz.pictures.shared.canvas import Canvas


@dataclass(frozen=True)
class Rest:
    """The entries that are not listed: their number and their sum."""

    count: int
    value: float


@dataclass(frozen=True)
class BarsView:
    """A list of bars, the first on top. `full` is the value of a whole track.

    `values` and `seconds` are headings of the two numbers; without `seconds` there is only one.
    """

    title: str
    bars: tuple[Bar, ...]
    rest: Rest | None = None
    note: str = ""
    values: str = ""
    seconds: str = ""
    full: float = 1.0


CANVAS = Canvas("bars", (BarsView,))
