"""How a class answered a card, in the order of the answers and in words.

In: a card, its texts and a tally. Out: one `Bar` for each answer that the card knows, and for all
others. What a class typed is counted under what it shows, never kept: "right" or "not_<mistake>".
"""

from dataclasses import dataclass

from attnviz.i18n import Language, text
from attnviz.lessons.cards.card import Card, CellQuestion, ChoiceQuestion, NumberQuestion, Question
from attnviz.lessons.cards.grade import OTHER, Verdict, mistakes
from attnviz.lessons.cards.texts import LessonTexts, fill
from attnviz.lessons.classroom.room import Tally
from attnviz.lessons.paper.answer_key import cells, exact
from attnviz.lessons.paper.markdown import plain

RIGHT = "right"
MOST_CELLS = 3


@dataclass(frozen=True)
class Bar:
    """One answer: what it is called, how many gave it, and whether it is the right one."""

    said: str
    count: int
    right: bool


def label(verdict: Verdict) -> str:
    """Under which name a class counts an answer."""
    return RIGHT if verdict.right else f"not_{verdict.mistake}"


def bars(
    card: Card, texts: LessonTexts, lang: Language, tally: Tally, revealed: bool = True
) -> list[Bar]:
    """The answers to a card's question, as many bars as it knows answers; none without one.

    Before they are `revealed`, a number or a cell is named only once someone answered it: the list
    of all that the card knows would turn a free question into a choice.
    """
    question = card.question
    if question is None:
        return []
    if isinstance(question, ChoiceQuestion):
        said = {
            label(Verdict(name == question.right, name)): plain(
                fill(texts.of(card.name, f"option.{name}"), card.numbers)
            )
            for name in question.options
        }
    else:
        said = _answers(card, lang, question)
        said[f"not_{OTHER}"] = text(lang, "class.other")
        if not revealed:
            said = {name: words for name, words in said.items() if tally.counts.get(name)}
    return [Bar(words, tally.counts.get(name, 0), name == RIGHT) for name, words in said.items()]


def _answers(card: Card, lang: Language, question: Question) -> dict[str, str]:
    """The right answer among the mistakes: numbers by size, cells from the top."""
    if isinstance(question, NumberQuestion):
        numbers = {RIGHT: question.answer} | {
            f"not_{name}": value for name, value in question.mistakes.items()
        }
        order = sorted(numbers, key=lambda name: float(numbers[name]))
        return {name: exact(numbers[name], question.tolerance) for name in order}
    assert isinstance(question, CellQuestion)
    places = {RIGHT: question.right} | {
        f"not_{name}": question.mistakes[name] for name in mistakes(question)
    }
    order = sorted((name for name in places if places[name]), key=lambda name: min(places[name]))
    return {name: _some(card, lang, question, places[name]) for name in order}


def _some(
    card: Card, lang: Language, question: CellQuestion, found: frozenset[tuple[int, int]]
) -> str:
    named = cells(card, lang, question.panel, found)
    return " · ".join(named[:MOST_CELLS]) + " …" * (len(named) > MOST_CELLS)
