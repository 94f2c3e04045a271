"""Listener: has a page run again when its class has moved on, and says whether it can hear.

In: a frozen `ListenerView` and translated strings. Out: a mounted component that opens a socket to
`listening` and sends `heard` when the count there is not the one that was drawn. Where no socket
opens, it asks for a run every few seconds instead. It announces what who leads has chosen.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from attnviz.components.buffer import pack

NAME = "attnviz.listener"
STRING_KEYS: tuple[str, ...] = ("listener.live", "listener.lost")
Heed = Literal["stage", "changes"]
Chosen = Mapping[str, int | None]  # layer, head, query, key


@dataclass(frozen=True)
class ListenerView:
    """Where to listen (below the app's address), what to heed, and the count that was drawn.

    `seat` is that of a member, or the presenter's key: what the socket sends first.
    `chosen` is the head and cell that who leads looks at; other components of the page show it too.
    """

    folder: str
    code: str
    seat: str
    heed: Heed
    drawn: int
    chosen: Chosen | None = None


def pack_listener(view: ListenerView, strings: Mapping[str, str]) -> bytes:
    """The buffer of a listener."""
    header = {
        "strings": dict(strings),
        "folder": view.folder,
        "code": view.code,
        "seat": view.seat,
        "heed": view.heed,
        "drawn": view.drawn,
        "chosen": None if view.chosen is None else dict(view.chosen),
    }
    return pack(header, {})
