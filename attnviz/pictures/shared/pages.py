"""The pages of the app: a row for each, in the order and the groups of its navigation.

In: nothing. Out: the rows, and the names: the single list of what a component can open, of what the
navigation shows, and of what `app/session/routes.py` leads to. A page's texts are `page.<name>.…`,
its file is `pages/<name>.py`.
"""

from dataclasses import dataclass
from typing import Literal

Page = Literal[
    "start",
    "overview",
    "head",
    "compare",
    "output",
    "steps",
    "masks",
    "geometry",
    "switches",
    "circuit",
    "map",
    "atlas",
    "learn",
    "calculator",
]
Group = Literal["start", "explore", "apart", "many", "learn"]


@dataclass(frozen=True)
class PageRow:
    """A page, its group in the navigation, and its icon: the path of an SVG of 16 by 16.

    In an icon that `has_holes`, shapes inside others are holes. `needs_model` is False for a page
    that shows no capture; a class goes along to the pages that are `followed`.
    """

    name: Page
    group: Group
    icon: str
    has_holes: bool = False
    needs_model: bool = True
    followed: bool = False

    @property
    def image(self) -> str:
        """The icon as an image of a style sheet."""
        rule = " fill-rule='evenodd'" if self.has_holes else ""
        box = "xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'"
        svg = f"%3Csvg {box}%3E%3Cpath d='{self.icon}'{rule}/%3E%3C/svg%3E"
        return f'url("data:image/svg+xml,{svg}")'


ROWS = (
    PageRow("start", "start", "M4 3l9 5-9 5z", needs_model=False),
    PageRow("overview", "explore", "M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9 9h5v5H9z", followed=True),
    PageRow(
        "head",
        "explore",
        "M2 2h12v12H2zm2 2v8h8V4zm1 1h2v2H5zm4 4h2v2H9z",
        has_holes=True,
        followed=True,
    ),
    PageRow("compare", "explore", "M2 2h5v12H2zm7 0h5v12H9zm1.5 1.5v9h2v-9z", has_holes=True),
    PageRow("output", "explore", "M2 3h6v2H2zm0 4h12v2H2zm0 4h9v2H2z", followed=True),
    PageRow("steps", "apart", "M1 10h4V7h4V4h6v2h-4v3H7v3H1z", followed=True),
    PageRow("masks", "apart", "M2 2l12 12H2z"),
    PageRow(
        "geometry",
        "apart",
        "M2 13.2L10 5.2 7.5 5.2V3.6h5.3v5.3h-1.6V6.4L4.4 13.2H14v1.6H2z",
        followed=True,
    ),
    PageRow(
        "switches",
        "apart",
        ("M5 4h6a4 4 0 010 8H5a4 4 0 010-8zm6 1.5a2.5 2.5 0 100 5 2.5 2.5 0 000-5z"),
        has_holes=True,
    ),
    PageRow(
        "circuit",
        "apart",
        (
            "M2 11a2.5 2.5 0 105 0 2.5 2.5 0 00-5 0zM9 4a2.5 2.5 0 105 0 2.5 2.5 0 "
            "00-5 0zM5.5 9l4-4 1.2 1.2-4 4z"
        ),
    ),
    PageRow(
        "map",
        "many",
        (
            "M3 3a1.5 1.5 0 103 0 1.5 1.5 0 00-3 0zM9 5a1.5 1.5 0 103 0 1.5 1.5 0 0"
            "0-3 0zM2 10a1.5 1.5 0 103 0 1.5 1.5 0 00-3 0zM7 12.5a1.5 1.5 0 103 0 1"
            ".5 1.5 0 00-3 0zM12 10.5a1.5 1.5 0 103 0 1.5 1.5 0 00-3 0z"
        ),
    ),
    PageRow(
        "atlas",
        "many",
        (
            "M2 2h1.5v10.5H14V14H2zM6 8a1.4 1.4 0 102.8 0A1.4 1.4 0 006 8zM9.5 4.5a"
            "1.4 1.4 0 102.8 0 1.4 1.4 0 00-2.8 0zM11 9.8a1.4 1.4 0 102.8 0 1.4 1.4"
            " 0 00-2.8 0z"
        ),
    ),
    PageRow(
        "learn", "learn", "M8 2l8 4-8 4-8-4zM3 8.6l5 2.5 5-2.5V12l-5 2.5L3 12z", needs_model=False
    ),
    PageRow(
        "calculator",
        "learn",
        ("M3 1h10v14H3zm2 2v3h6V3zm0 5v2h2V8zm4 0v2h2V8zm-4 3v2h2v-2zm4 0v2h2v-2z"),
        has_holes=True,
        needs_model=False,
    ),
)
PAGES: tuple[Page, ...] = tuple(row.name for row in ROWS)
