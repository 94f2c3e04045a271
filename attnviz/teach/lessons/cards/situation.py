"""The pictures that stand before a card's question: what it is about, without its answer.

In: a built card. Out: its own `situation`; where it has none and nothing else is drawn before the
question, the pictures of its answer, emptied: of an experiment the control, with which the change
is compared; matrices with their names and without numbers, charts with their axes and without
lines, films in their first scene. A test holds every card to it.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from attnviz.pictures.board import Board
from attnviz.pictures.motion.scenes import Motion
from attnviz.teach.lessons.cards.card import Card, Chart, ChoiceQuestion, Picture

CONTROL = "control"  # the panel that an experiment leaves unchanged


def before_the_question(card: Card) -> tuple[Picture, ...]:
    """The pictures that only wait for the answer; a card's own `pictures` stay."""
    if card.question is None or card.situation or card.pictures or _has_pictured_options(card):
        return card.situation
    return tuple(_emptied(card.reveal))


def _has_pictured_options(card: Card) -> bool:
    return isinstance(card.question, ChoiceQuestion) and bool(card.question.pictures)


def _emptied(pictures: tuple[Picture, ...]) -> Iterator[Picture]:
    for picture in pictures:
        if isinstance(picture, Board):
            control = tuple(panel for panel in picture.panels if panel.name == CONTROL)
            yield Board(control or tuple(replace(panel, hidden=True) for panel in picture.panels))
        elif isinstance(picture, Chart):
            yield _without_lines(picture)
        elif isinstance(picture, Motion):
            yield picture.still()


def _without_lines(chart: Chart) -> Chart:
    lines = (replace(line, y=np.full_like(line.y, np.nan)) for line in chart.series)
    return replace(chart, series=tuple(lines), marked_x=None)
