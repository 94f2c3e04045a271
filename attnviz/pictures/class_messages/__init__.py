"""Class messages: has a page run again when its class has moved on, and says whether it can hear.

In: a frozen `ClassMessagesView`. It opens a socket to `folder` and sends `heard` when the count
there is not the one that was drawn. Where no socket opens, it asks for a run every few seconds
instead. It announces what the presenter has chosen, and keeps the seat or the presenter's key in
the browser's tab: after a reload it sends `kept` once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from attnviz.pictures.shared.canvas import Canvas

Heed = Literal["stage", "changes", "wall"]
MAX_CHARS = 100  # of a seat or a key
Chosen = Mapping[str, int | None]  # layer, head, query, key


@dataclass(frozen=True)
class ClassMessagesView:
    """Where to listen (below the app's address), what to heed, and the count that was drawn.

    `seat` is that of a member, or the presenter's key: what the socket sends first.
    `chosen` is the head and cell that who leads looks at; other components of the page show it too.
    `arrives` is True if the page is to be scrolled to this line when it is first drawn.
    """

    folder: str
    code: str
    seat: str
    heed: Heed
    drawn: int
    chosen: Chosen | None = None
    arrives: bool = False


CANVAS = Canvas("class_messages", (ClassMessagesView,))


def parse_kept(value: object, code: str) -> tuple[Heed, str] | None:
    """Who the tab was in a class, and the seat or key that it kept; None for nothing and nonsense.

    A browser's value is hostile: the room judges the seat, this function its form alone.
    """
    if not isinstance(value, Mapping) or value.get("code") != code:
        return None
    heed, seat = value.get("heed"), value.get("seat")
    if heed not in ("stage", "changes") or not isinstance(seat, str):
        return None
    return (heed, seat) if 0 < len(seat) <= MAX_CHARS else None
