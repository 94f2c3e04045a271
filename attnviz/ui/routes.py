"""Where the page files are, by the names that stand in addresses.

In: the path of the entry file. Out: page name → file. In a checkout the folder pages/ stands beside
the package; an installed wheel carries it inside the package.
"""

from pathlib import Path

from attnviz.ui.components.selection import PAGES, Page

DEFAULT: Page = "overview"


def files(entry: Path) -> dict[Page, Path]:
    """The file of each page, in the order of the navigation."""
    package = entry.resolve().parent.parent
    inside, beside = package / "pages", package.parent / "pages"
    folder = inside if inside.is_dir() else beside
    return {name: folder / f"{name}.py" for name in PAGES}
