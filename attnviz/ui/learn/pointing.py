"""What a presenter points at on a card, and how it travels to a class: as a part of the stage.

In: the presenter's page. Out: text forms that `lessons.classroom.room` carries: a cell of a board,
the head and cell that are chosen in a real head, how often a live training was begun. What comes
back from a stage was written here, and is still read as if it were not.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from attnviz.lessons.cards.card import Card, Live, Real
from attnviz.ui.session import current, store
from attnviz.ui.session.address import INDICES

KEPT = "learn.pointing"
SEPARATOR = ";"
RUN = "run"


@dataclass(frozen=True)
class Pointing:
    """What a presenter points at on a card: picture, panel, row, column; `leads` for the one."""

    leads: bool = False
    card: str = ""
    picture: str = ""
    at: tuple[int, int, int] = (0, 0, 0)

    def written(self) -> str:
        """As a stage carries it; "" for nothing."""
        return "/".join(map(str, (self.picture, *self.at))) if self.picture else ""

    @staticmethod
    def read(card: str, written: str) -> "Pointing":
        """What a follower of that stage is shown."""
        picture, *at = written.partition(SEPARATOR)[0].split("/")
        return (
            Pointing(card=card, picture=picture, at=(int(at[0]), int(at[1]), int(at[2])))
            if at
            else Pointing(card=card)
        )


def pointing() -> Pointing | None:
    """What is pointed at in a class; None outside of one."""
    found: Pointing | None = store.get(KEPT)
    return found


def point(found: Pointing | None) -> None:
    """Point at a cell, or at none."""
    store.put(KEPT, found)


def leads() -> bool:
    """Whether this page leads a class."""
    found = pointing()
    return found is not None and found.leads


def is_led() -> bool:
    """Whether this page follows someone else's."""
    found = pointing()
    return found is not None and not found.leads


def selection(found: Pointing, card: Card) -> str:
    """All that a presenter chose on a card, as its stage carries it; "" for nothing."""
    pictures = (*card.pictures, *card.reveal)
    chosen = ""
    if any(isinstance(each, Real) for each in pictures):
        places = (getattr(current.view().place, name) for name in INDICES)
        chosen = ".".join("" if place is None else str(place) for place in places)
    for each in pictures:
        if isinstance(each, Live):
            chosen = f"{RUN}.{begun(each)}"
    return f"{found.written()}{SEPARATOR}{chosen}" if chosen else found.written()


def read_chosen(written: str) -> dict[str, int | None]:
    """The head and cell that a stage's presenter chose in a real head; {} for none."""
    parts = written.partition(SEPARATOR)[2].split(".")
    if len(parts) != len(INDICES) or not parts[0].isdecimal() or not parts[1].isdecimal():
        return {}
    return {
        name: int(part) if part.isdecimal() else None
        for name, part in zip(INDICES, parts, strict=True)
    }


def read_begun(written: str) -> int:
    """How often a stage's presenter began a live training."""
    run, _, count = written.partition(SEPARATOR)[2].partition(".")
    return int(count) if run == RUN and count.isdecimal() else 0


def training_name(seed: int) -> str:
    """Under which name it is kept how often the training of a seed was begun here."""
    return f"birth.{seed}"


def begun(live: Live) -> int:
    """How often a live training was begun on this page, or on the one that it follows."""
    return int(store.get(training_name(live.seed)) or 0)


def follow_training(card: Card, written: str) -> None:
    """Have a follower's page show the very training that the presenter began."""
    for each in card.pictures:
        if isinstance(each, Live):
            store.put(training_name(each.seed), read_begun(written))


def as_selection(chosen: Mapping[str, int | None]) -> dict[str, int | None] | None:
    """A choice as the browser's listener hears of it; None for nothing chosen."""
    return {name: chosen[name] for name in INDICES} if chosen else None
