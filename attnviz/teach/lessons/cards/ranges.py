"""The colour ranges of a card: the largest value of each kind of number on it.

In: a card. Out: for each `Panel.scale` the largest absolute value that any panel of that scale has,
before and after the reveal. A matrix is then coloured on one range before and after a step, and
colours keep their meaning when an answer is shown.
"""

from collections.abc import Iterable, Iterator

from attnviz.pictures.board import Board, Panel, largest
from attnviz.teach.lessons.cards.card import Card, ChoiceQuestion, Picture


def ranges(card: Card) -> dict[str, float]:
    """The largest absolute value of each scale; infinite and undefined values do not count."""
    largest_of: dict[str, float] = {}
    for panel in _panels(card):
        if panel.scale:
            largest_of[panel.scale] = max(largest_of.get(panel.scale, 0.0), largest(panel))
    return largest_of


def _panels(card: Card) -> Iterator[Panel]:
    options = card.question.pictures if isinstance(card.question, ChoiceQuestion) else {}
    pictures: Iterable[Picture] = (*card.pictures, *card.reveal, *options.values())
    for picture in pictures:
        if isinstance(picture, Board):
            yield from picture.panels
