"""Words of made-up examples, which each language has of its own.

In: a card whose labels and numbers have `ExampleWord`s, and the lesson's texts, whose front matter
names words in its language (`words: the=その | cat=猫`). Out: the card with these words. What a
real model read stays as it is; `Gloss` tells what it means.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion.scenes import Motion
from attnviz.teach.lessons.cards.card import Card, ChoiceQuestion, NotEnglish, Picture
from attnviz.teach.lessons.cards.texts import LessonTexts

Label = TypeVar("Label")


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
    return replace(board, panels=tuple(_panel(panel, words) for panel in board.panels))


def _panel(panel: Panel, words: Mapping[str, str]) -> Panel:
    rows, columns = _labels(panel.rows, words), _labels(panel.columns, words)
    return replace(panel, rows=rows, columns=columns)
