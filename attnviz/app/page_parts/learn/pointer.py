"""The cell that a presenter points at on a card, and its text form, which a class's stage carries.

In: the presenter's page. Out: "weights/0/2/1;3.5.1.": the cell of a board, then the head and cell
that are chosen in a real head, or "run.2", the number of times that a live training was started.
A stage's text is treated as hostile: a part that is not of its form counts as absent.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from attnviz import notation
from attnviz.app.session import current, store
from attnviz.app.session.address import INDICES
from attnviz.teach.lessons.cards.card import Card, LiveTraining, RealHead

KEPT = "learn.pointing"
SEPARATOR = ";"  # between what is pointed at and what is chosen
CELL_SEPARATOR = "/"
RUN = "run"


@dataclass(frozen=True)
class Pointing:
    """A cell of a card: its picture, then panel, row, column; `leads` is True for the presenter."""

    leads: bool = False
    card: str = ""
    picture: str = ""
    at: tuple[int, int, int] = (0, 0, 0)

    def written(self) -> str:
        """The text form for a stage; "" for nothing."""
        if not self.picture:
            return ""
        picture = notation.escape(self.picture, CELL_SEPARATOR + SEPARATOR)
        cell = notation.write_indices(*self.at, separator=CELL_SEPARATOR)
        return picture + CELL_SEPARATOR + cell

    @staticmethod
    def read(card: str, written: str) -> "Pointing":
        """The cell that a follower of that stage is shown."""
        picture, _, cell = written.partition(SEPARATOR)[0].partition(CELL_SEPARATOR)
        at = notation.indices(cell, 3, CELL_SEPARATOR)
        if at is None:
            return Pointing(card=card)
        picture = notation.unescape(picture, CELL_SEPARATOR + SEPARATOR)
        return Pointing(card=card, picture=picture, at=(at[0], at[1], at[2]))


def pointing() -> Pointing | None:
    """The cell that is pointed at in a class; None outside of one."""
    kept: Pointing | None = store.get(KEPT)
    return kept


def point(target: Pointing | None) -> None:
    """Point at a cell, or at none."""
    store.put(KEPT, target)


def leads() -> bool:
    """True if this page leads a class."""
    target = pointing()
    return target is not None and target.leads


def is_led() -> bool:
    """True if this page follows a presenter's."""
    target = pointing()
    return target is not None and not target.leads


def selection(target: Pointing, card: Card) -> str:
    """All that a presenter pointed at and chose on a card, for its stage; "" for nothing."""
    pictures = (*card.pictures, *card.reveal)
    chosen = ""
    if any(isinstance(picture, RealHead) for picture in pictures):
        places = (getattr(current.view().place, name) for name in INDICES)
        chosen = ".".join("" if place is None else str(place) for place in places)
    for picture in pictures:
        if isinstance(picture, LiveTraining):
            chosen = f"{RUN}.{begun(picture)}"
    return f"{target.written()}{SEPARATOR}{chosen}" if chosen else target.written()


def read_chosen(written: str) -> dict[str, int | None]:
    """The head and cell that a stage's presenter chose in a real head; {} for none."""
    places = [notation.index(part) for part in written.partition(SEPARATOR)[2].split(".")]
    if len(places) != len(INDICES) or None in places[:2]:
        return {}
    return dict(zip(INDICES, places, strict=True))


def read_begun(written: str) -> int:
    """The number of times that a stage's presenter started a live training."""
    run, _, count = written.partition(SEPARATOR)[2].partition(".")
    return (notation.index(count) or 0) if run == RUN else 0


def training_name(seed: int) -> str:
    """The name under which the session keeps the number of starts of a seed's training."""
    return f"birth.{seed}"


def begun(live: LiveTraining) -> int:
    """The number of starts of a live training on this page, or on the one that it follows."""
    return int(store.get(training_name(live.seed)) or 0)


def follow_training(card: Card, written: str) -> None:
    """Have a follower's page show the training that the presenter started."""
    for picture in (*card.pictures, *card.reveal):
        if isinstance(picture, LiveTraining):
            store.put(training_name(picture.seed), read_begun(written))


def as_selection(chosen: Mapping[str, int | None]) -> dict[str, int | None] | None:
    """A choice in the form of the browser's listener; None for nothing chosen."""
    return {name: chosen[name] for name in INDICES} if chosen else None
