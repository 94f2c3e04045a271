"""The answers of a class to a card as bars with words.

In: a card, its texts and a tally. Out: one `AnswerBar` for each answer that the card knows, and one
for all others. A typed answer is counted under its verdict, "right" or "not_<mistake>", and never
kept.
"""

from dataclasses import dataclass

from attnviz.i18n import Language, text
from attnviz.teach.classroom.room import Tally
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    ChoiceQuestion,
    NumberQuestion,
    Question,
)
from attnviz.teach.lessons.cards.grade import OTHER, Verdict, mistakes
from attnviz.teach.lessons.cards.texts import LessonTexts, say
from attnviz.teach.lessons.paper.markdown import plain
from attnviz.teach.lessons.paper.worksheet import cells, exact

RIGHT = "right"
MAX_CELLS = 1  # on the wall five answers are seen at once


@dataclass(frozen=True)
class AnswerBar:
    """One answer in words, the number of members who gave it, and True if it is right.

    `label` is the name under which the class counts it, `first` the number in the first of two
    votes.
    """

    words: str
    count: int
    right: bool
    label: str = ""
    first: int = 0


def label(verdict: Verdict) -> str:
    """The name under which a class counts an answer."""
    return RIGHT if verdict.right else f"not_{verdict.mistake}"


def answer_bars(
    card: Card, texts: LessonTexts, lang: Language, tally: Tally, revealed: bool = True
) -> list[AnswerBar]:
    """The answers to a card's question, as many bars as it knows answers; none without one.

    Before they are `revealed`, a number or a cell is named only once someone answered it: the list
    of all that the card knows would turn a free question into a choice.
    """
    question = card.question
    if question is None:
        return []
    if isinstance(question, ChoiceQuestion):
        words = {
            label(Verdict(name == question.right, name)): plain(say(texts, card, f"option.{name}"))
            for name in question.options
        }
    else:
        words = _answers(card, lang, question)
        words[f"not_{OTHER}"] = text(lang, "class.other")
        if not revealed:
            given = {*tally.counts, *tally.first}
            words = {name: answer for name, answer in words.items() if name in given}
    return [
        AnswerBar(answer, tally.counts.get(name, 0), name == RIGHT, name, tally.first.get(name, 0))
        for name, answer in words.items()
    ]


def _answers(card: Card, lang: Language, question: Question) -> dict[str, str]:
    """The right answer among the mistakes: numbers by size, cells from the top."""
    if isinstance(question, NumberQuestion):
        numbers = {RIGHT: question.answer} | {
            f"not_{name}": value for name, value in question.mistakes.items()
        }
        order = sorted(numbers, key=lambda name: float(numbers[name]))
        return {name: exact(numbers[name], question.tolerance, lang) for name in order}
    assert isinstance(question, CellQuestion)
    places = {RIGHT: question.right} | {
        f"not_{name}": question.mistakes[name] for name in mistakes(question)
    }
    order = sorted((name for name in places if places[name]), key=lambda name: min(places[name]))
    return {name: _cells(card, lang, question, places[name]) for name in order}


def _cells(
    card: Card, lang: Language, question: CellQuestion, right: frozenset[tuple[int, int]]
) -> str:
    """The first cells of an answer in words."""
    named = cells(card, lang, question.panel, right)
    return " · ".join(named[:MAX_CELLS]) + " …" * (len(named) > MAX_CELLS)
