"""Card scroller: shows a card that has just opened from its top, and keeps the reader's progress.

In: a frozen `CardScrollerView`; nothing is drawn. Each new arrival scrolls the page to the top of
the card and puts the keyboard's focus on its heading; the numbers of the way get the words that a
screen reader says for them. The progress is kept in the browser's own storage, under the address of
the app, and sent back once to a session that asks for it.
"""

from dataclasses import dataclass

from attnviz.pictures.shared.canvas import Canvas


@dataclass(frozen=True)
class CardScrollerView:
    """The number of cards opened before this one, and the words for each number of the way.

    `progress` is the text to keep in the browser, "" for none; `asks` is True if the session wants
    the text that is kept there.
    """

    arrivals: int
    labels: tuple[str, ...] = ()
    progress: str = ""
    asks: bool = False


CANVAS = Canvas("card_scroller", (CardScrollerView,))
