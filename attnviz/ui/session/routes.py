"""The files of the pages, by the names that stand in addresses.

In: a page's name. Out: its file. In a checkout the folder pages/ stands beside the package; an
installed wheel carries it inside the package.
"""

from pathlib import Path

import attnviz
from attnviz.components.selection import PAGES, Page

DEFAULT: Page = "overview"
WITHOUT_MODEL: tuple[Page, ...] = ("learn", "calculator")
PACKAGE = Path(attnviz.__file__).resolve().parent


def file(page: Page) -> Path:
    """The file of a page."""
    inside, beside = PACKAGE / "pages", PACKAGE.parent / "pages"
    return (inside if inside.is_dir() else beside) / f"{page}.py"


def files() -> dict[Page, Path]:
    """The file of each page, in the order of the navigation."""
    return {page: file(page) for page in PAGES}
