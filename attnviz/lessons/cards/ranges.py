"""Which colours mean the same on one card: the largest value of each kind of number.

In: a card. Out: for each `Panel.scale` the largest absolute value that any panel of that scale has,
before and after the reveal. A matrix and what became of it are then coloured by one measure, and
colours do not change their meaning when an answer is shown.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from attnviz.lessons.cards.card import Board, Card, ChoiceQuestion, Panel, Picture


def ranges(card: Card) -> dict[str, float]:
    """The largest absolute value of each scale; infinite and undefined values do not count."""
    found: dict[str, float] = {}
    for panel in _panels(card):
        if panel.scale:
            found[panel.scale] = max(found.get(panel.scale, 0.0), largest(panel))
    return found


def largest(panel: Panel) -> float:
    """The largest finite absolute value of a panel; 0 for none."""
    finite = panel.values[np.isfinite(panel.values)]
    return float(np.abs(finite).max(initial=0.0))


def _panels(card: Card) -> Iterator[Panel]:
    options = card.question.pictures if isinstance(card.question, ChoiceQuestion) else {}
    shown: Iterable[Picture] = (*card.pictures, *card.reveal, *options.values())
    for picture in shown:
        if isinstance(picture, Board):
            yield from picture.panels
