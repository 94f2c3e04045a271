"""The files of the pages, by the names that stand in addresses.

In: a page's name. Out: its file. The list of pages is `components/pages.py`, since a component
opens pages by name. In a checkout the folder pages/ stands beside the package; an installed wheel
carries it inside the package.
"""

from pathlib import Path
from typing import get_args

import attnviz
from attnviz.components.pages import (
    PAGES,
    ExploringPage,
    LearningPage,
    ManyTextsPage,
    Page,
    StartPage,
    TakingApartPage,
)

DEFAULT: Page = "start"
BEFORE: Page = "overview"  # what "/" with parameters showed before there was a start page
WITHOUT_MODEL: tuple[Page, ...] = ("start", "learn", "calculator")
# the groups of the navigation, by the last part of their texts' keys
GROUPS: dict[str, tuple[Page, ...]] = {
    "start": get_args(StartPage),
    "explore": get_args(ExploringPage),
    "apart": get_args(TakingApartPage),
    "many": get_args(ManyTextsPage),
    "learn": get_args(LearningPage),
}
PACKAGE = Path(attnviz.__file__).resolve().parent


def file(page: Page) -> Path:
    """The file of a page."""
    inside, beside = PACKAGE / "pages", PACKAGE.parent / "pages"
    return (inside if inside.is_dir() else beside) / f"{page}.py"


def files() -> dict[Page, Path]:
    """The file of each page, in the order of the navigation."""
    return {page: file(page) for page in PAGES}
