"""Resume: where a visitor left, kept in the browser alone, and a button that leads back there.

In: a frozen `ResumeView`. It keeps the page and the query of the address in the browser's storage;
a start page keeps nothing and offers what was kept: a click sends it as the event `resume`, which
`parse` validates. Nothing is kept on a server.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from attnviz.pictures.shared.canvas import Canvas
from attnviz.pictures.shared.pages import PAGES, Page

MAX_CHARS = 60_000


@dataclass(frozen=True)
class ResumeView:
    """The page that is shown and the query of its address; `offers` True to lead back."""

    page: Page
    query: str
    offers: bool = False


CANVAS = Canvas("resume", (ResumeView,))


@dataclass(frozen=True)
class Left:
    """The page where a visitor left, and the query of its address."""

    page: Page
    query: str


def parse(sent: object) -> Left | None:
    """Where a visitor left, as the browser says; None for nonsense."""
    if not isinstance(sent, Mapping) or sent.get("page") not in PAGES:
        return None
    query = sent.get("query")
    if not isinstance(query, str) or len(query) > MAX_CHARS:
        return None
    return Left(cast(Page, sent["page"]), query)
