"""The stage of a class: what every follower's page shows, as the presenter has it.

In: a card with its settings, or a page of the app with its view. Out: a frozen `Stage`, all in text
forms as in the address, so that followers check them like any address.
"""

from dataclasses import dataclass
from typing import Literal

CardName = tuple[str, str]
# what the whole class does beside the question: trains, writes a short answer, reads all of them,
# votes on the best, gives sentences with "it" to a head
Activity = Literal["", "train", "write", "read", "vote", "point"]
LEARN = "learn"


@dataclass(frozen=True)
class CellRequest:
    """The matrix of which the class is asked for a cell, and its size.

    `target` names a picture of the card and one of its panels; `shown`: followers see the cells
    that the class has clicked, and clicks are closed.
    """

    target: str
    rows: int
    columns: int
    shown: bool = False


@dataclass(frozen=True)
class Stage:
    """The card that every follower's page shows, in the presenter's state.

    `settings` and `selection` are text forms, as in the address. `shown`: followers see the tally;
    `revealed`: they see the right answer, and answers are closed. `page` is the page of the app on
    which the presenter is, and `query` its view there. `number` of `count` is the card's place in
    the lesson as the presenter gives it, `order` the names of its cards, which a presenter takes
    back whose page was loaded again; `plan` is the number of minutes of the plan that the class
    goes by, 0 for a lesson. Until the class has `begun`, the wall invites to join it. `vote` is 2
    once the class has talked about the card and votes again. With an `activity` every member does
    something beside the question. The room counts `version`.
    """

    lesson: str
    card: str
    settings: str = ""
    selection: str = ""
    shown: bool = False
    revealed: bool = False
    page: str = LEARN
    query: str = ""
    number: int = 0
    count: int = 0
    asked: CellRequest | None = None
    order: tuple[str, ...] = ()
    plan: int = 0
    begun: bool = True
    vote: int = 1
    activity: Activity = ""
    version: int = 0

    @property
    def name(self) -> CardName:
        """The name of the card among the cards of all lessons."""
        return self.lesson, self.card
