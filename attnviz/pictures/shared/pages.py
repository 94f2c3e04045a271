"""The pages of the app: a row for each, in the order and the rooms of its navigation.

In: nothing. Out: the rows, and the names: the single list of what a component can open, of what the
navigation shows, and of what `app/session/routes.py` leads to. A page's texts are `page.<name>.…`,
its file is `pages/<name>.py`; a room's name is `room.<name>`. A door is what can be opened: a page,
"head", which is Look with one head grown out of its square, "compare", which is Look with a second
sentence and B − A in its squares, a face of Compute, or what is seen with the switches of Change:
"circuit", the paths over them, and "output", the whole answer below them.
"""

from dataclasses import dataclass
from typing import Literal, get_args

Page = Literal[
    "start",
    "overview",
    "weights",
    "switches",
    "steps",
    "map",
    "atlas",
    "pairs",
    "learn",
]
Door = Literal[Page, "head", "compare", "circuit", "output", "masks", "geometry", "calculator"]
Room = Literal["start", "look", "change", "compute", "texts", "learn"]


@dataclass(frozen=True)
class PageRow:
    """A page and its room: one of several faces of it.

    `needs_model` is False for a page that shows no capture; a class goes along to the pages that
    are `followed`.
    """

    name: Page
    room: Room
    needs_model: bool = True
    followed: bool = False


ROWS = (
    PageRow("start", "start", needs_model=False),
    PageRow("overview", "look", followed=True),
    PageRow("weights", "look"),
    PageRow("switches", "change", followed=True),
    PageRow("steps", "compute", followed=True),
    PageRow("map", "texts"),
    PageRow("atlas", "texts"),
    PageRow("pairs", "texts"),
    PageRow("learn", "learn", needs_model=False),
)
PAGES: tuple[Page, ...] = tuple(row.name for row in ROWS)
DOORS: tuple[Door, ...] = get_args(Door)
# the page behind a door that is none, and the parameters of its address there
BEHIND: dict[Door, tuple[Page, dict[str, str]]] = {
    "head": ("overview", {"open": "1"}),
    "compare": ("overview", {"second": "1"}),
    "circuit": ("switches", {"paths": "1"}),
    "output": ("switches", {"answer": "1"}),
    "masks": ("steps", {"face": "masks"}),
    "geometry": ("steps", {"face": "arrows"}),
    "calculator": ("steps", {"face": "numbers"}),
}


def path(page: Page) -> str:
    """The path of a page's address: the first page of a room has the room's own name."""
    room = next(row.room for row in ROWS if row.name == page)
    first = next(row.name for row in ROWS if row.room == room)
    return room if page == first else page
