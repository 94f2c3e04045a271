"""The files of the pages, by the names that stand in addresses.

In: a page's name. Out: its file. The list of pages is `pictures/shared/pages.py`, since a component
opens pages by name. In a checkout the folder pages/ stands beside the package; an installed wheel
carries it inside the package.
"""

from functools import cache
from pathlib import Path
from typing import get_args

import attnviz
from attnviz.pictures.shared.pages import BEHIND, PAGES, ROWS, Door, Page, Room

DEFAULT: Page = "start"
BEFORE: Page = "overview"  # what "/" with parameters showed before there was a start page
WITHOUT_MODEL: tuple[Door, ...] = (*(row.name for row in ROWS if not row.needs_model), "calculator")
# the pages of each room, its faces; a link to the room opens the first
ROOMS: dict[Room, tuple[Page, ...]] = {
    room: tuple(row.name for row in ROWS if row.room == room) for room in get_args(Room)
}
PACKAGE = Path(attnviz.__file__).resolve().parent


def file(page: Page) -> Path:
    """The file of a page."""
    inside, beside = PACKAGE / "pages", PACKAGE.parent / "pages"
    return (inside if inside.is_dir() else beside) / f"{page}.py"


@cache
def files() -> dict[Page, Path]:
    """The file of each page, in the order of the navigation."""
    return {page: file(page) for page in PAGES}


def page(door: Door) -> Page:
    """The page behind a door."""
    return next((name for name in PAGES if name == door), None) or BEHIND[door][0]


def door(page: Page, face: str) -> Door:
    """The door to a page, or to a face of Compute where the page is that."""
    behind = (page, {"face": face})
    return next((door for door, there in BEHIND.items() if there == behind), page)


def room(door: Door) -> Room:
    """The room of a page, or of what is behind a door."""
    return next(row.room for row in ROWS if row.name == page(door))
