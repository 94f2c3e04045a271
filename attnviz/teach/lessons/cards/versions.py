"""Versions of a card: what stands before its question, the order of its options, its example words.

`before_the_question` gives the pictures without the answer: the card's own `situation`, or the
pictures of its answer, emptied. `shuffled` gives a choice's options in an order that is drawn from
the seed of a worksheet, the code of a class (all of its pages have one order), or seed 0 for a
learner, so that no place is the right one more often. `in_language` puts in the `ExampleWord`s of a
language, which the front matter of a lesson's texts names (`words: the=その | cat=猫`); what a real
model read stays as it is, and `Gloss` tells what it means.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import TypeVar

import numpy as np

from attnviz.pictures.board import Board
from attnviz.pictures.motion import Motion
from attnviz.teach.lessons.cards.card import Card, Chart, ChoiceQuestion, NotEnglish, Picture
from attnviz.teach.lessons.cards.texts import LessonTexts

CONTROL = "control"  # the panel that an experiment leaves unchanged
Label = TypeVar("Label")


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
            lines = (replace(line, y=np.full_like(line.y, np.nan)) for line in picture.series)
            yield replace(picture, series=tuple(lines), marked_x=None)
        elif isinstance(picture, Motion):
            yield picture.still()


def places(options: Iterable[str]) -> dict[str, int]:
    """The places of options in their order, from 1, as numbers of a card.

    An option that is a picture is named by its place: texts write it as `[[place_<option>]]`.

    >>> places(("sharp", "flat"))
    {'place_sharp': 1, 'place_flat': 2}
    """
    return {f"place_{option}": place for place, option in enumerate(options, 1)}


def shuffled(card: Card, slug: str, draw: str) -> Card:
    """The card with its options in the order that `draw` gives them."""
    question = card.question
    if not isinstance(question, ChoiceQuestion) or question.is_scale:
        return card

    def key(option: str) -> bytes:
        return sha256(f"{slug}/{card.name}/{option}/{draw}".encode()).digest()

    order = tuple(sorted(question.options, key=key))
    return replace(
        card,
        question=replace(question, options=order),
        numbers={**card.numbers, **places(order)},
    )


class ExampleWord(str):
    """An English word of a made-up example; other languages may have another for it."""


class Gloss(str):
    """An English sentence that a model reads; becomes its translation, "" where there is none."""


def in_language(card: Card, texts: LessonTexts) -> Card:
    """The card with the example words of the texts' language."""
    words = texts.words
    question = card.question
    if isinstance(question, ChoiceQuestion):
        pictures = {name: _board(board, words) for name, board in question.pictures.items()}
        question = replace(question, pictures=pictures)
    return replace(
        card,
        numbers={name: _word(value, words) for name, value in card.numbers.items()},
        pictures=tuple(_picture(picture, words) for picture in card.pictures),
        question=question,
        reveal=tuple(_picture(picture, words) for picture in card.reveal),
        situation=tuple(_picture(picture, words) for picture in card.situation),
    )


def _word(value: Label, words: Mapping[str, str]) -> Label | str:
    if isinstance(value, Gloss):
        return NotEnglish(words.get(value, ""))
    word = words.get(value) if isinstance(value, ExampleWord) else None
    return value if word is None else NotEnglish(word)


def _labels(labels: tuple[str, ...], words: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(_word(label, words) for label in labels)


def _picture(picture: Picture, words: Mapping[str, str]) -> Picture:
    if isinstance(picture, Board):
        return _board(picture, words)
    if isinstance(picture, Motion):
        labels = {axis: _labels(names, words) for axis, names in picture.labels.items()}
        return replace(picture, labels=labels)
    return picture


def _board(board: Board, words: Mapping[str, str]) -> Board:
    panels = [
        replace(panel, rows=_labels(panel.rows, words), columns=_labels(panel.columns, words))
        for panel in board.panels
    ]
    return replace(board, panels=tuple(panels))
