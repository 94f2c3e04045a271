"""The files of the pages, by the names that stand in addresses.

In: a page's name. Out: its file. The list of pages is `pictures/shared/pages.py`, since a component
opens pages by name. In a checkout the folder pages/ stands beside the package; an installed wheel
carries it inside the package.
"""

from pathlib import Path
from typing import get_args

import attnviz
from attnviz.pictures.shared.pages import PAGES, ROWS, Group, Page

DEFAULT: Page = "start"
BEFORE: Page = "overview"  # what "/" with parameters showed before there was a start page
WITHOUT_MODEL: tuple[Page, ...] = tuple(row.name for row in ROWS if not row.needs_model)
# the groups of the navigation, by the last part of their texts' keys
GROUPS: dict[Group, tuple[Page, ...]] = {
    group: tuple(row.name for row in ROWS if row.group == group) for group in get_args(Group)
}
PACKAGE = Path(attnviz.__file__).resolve().parent


def file(page: Page) -> Path:
    """The file of a page."""
    inside, beside = PACKAGE / "pages", PACKAGE.parent / "pages"
    return (inside if inside.is_dir() else beside) / f"{page}.py"


def files() -> dict[Page, Path]:
    """The file of each page, in the order of the navigation."""
    return {page: file(page) for page in PAGES}
