"""Usher: brings a reader to the top of a card that has just opened, and names the way's numbers.

In: a frozen `UsherView`. Out: a mounted component that is not seen. Each new arrival scrolls the
page to the top of the card and puts the keyboard's focus on its heading; the numbers of the way get
the words that a screen reader says for them.
"""

from dataclasses import dataclass

from attnviz.components.buffer import pack

NAME = "attnviz.usher"


@dataclass(frozen=True)
class UsherView:
    """The number of cards opened before this one, and the words for each number of the way."""

    arrivals: int
    labels: tuple[str, ...] = ()


def pack_usher(view: UsherView) -> bytes:
    """The buffer of an usher."""
    return pack({"arrivals": view.arrivals, "labels": list(view.labels)}, {})
