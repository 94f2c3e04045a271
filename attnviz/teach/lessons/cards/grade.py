"""The verdict on an answer: right, or the mistake that it shows.

In: a question and an answer as it came from a page (checked as user input). Out: a `Verdict` whose
`mistake` names the feedback to show: the texts "feedback.<mistake>" of the card.
"""

import math
from dataclasses import dataclass

from attnviz.errors import BadInput
from attnviz.pictures.board import BoardCell
from attnviz.teach.lessons.cards.card import CellQuestion, ChoiceQuestion, NumberQuestion, Question

Answer = float | int | str | BoardCell
OTHER = "other"


@dataclass(frozen=True)
class Verdict:
    """True, or the name of the mistake; "other" for a mistake that the card does not expect."""

    right: bool
    mistake: str = ""


RIGHT = Verdict(True)


def grade(question: Question, answer: Answer) -> Verdict:
    """The verdict on an answer. Raises `BadInput` for one that does not fit the question."""
    match question, answer:
        case NumberQuestion(), int() | float() if math.isfinite(answer):
            return _number(question, float(answer))
        case CellQuestion(), (int(), int()):
            return _cell(question, answer)
        case ChoiceQuestion(), str() if answer in question.options:
            return RIGHT if answer == question.right else Verdict(False, answer)
    raise BadInput(
        f"{answer!r} does not answer this question; {_expected(question)}",
        code="not_an_answer",
        asked=str(answer),
    )


def _number(question: NumberQuestion, answer: float) -> Verdict:
    if abs(answer - question.answer) <= question.tolerance:
        return RIGHT
    nearest = min(question.mistakes.items(), key=lambda item: abs(answer - item[1]), default=None)
    if nearest is not None and abs(answer - nearest[1]) <= question.tolerance:
        return Verdict(False, nearest[0])
    return Verdict(False, OTHER)


def _cell(question: CellQuestion, answer: BoardCell) -> Verdict:
    if answer in question.right:
        return RIGHT
    for mistake, cells in question.mistakes.items():
        if answer in cells:
            return Verdict(False, mistake)
    return Verdict(False, OTHER)


def _expected(question: Question) -> str:
    match question:
        case NumberQuestion():
            return "enter a finite number"
        case CellQuestion():
            return f"choose a cell (row, column) of {question.panel}"
        case ChoiceQuestion():
            return f"choose one of {', '.join(question.options)}"


def mistakes(question: Question) -> tuple[str, ...]:
    """The names of the mistakes that the question expects; each has its feedback."""
    if isinstance(question, ChoiceQuestion):
        return tuple(option for option in question.options if option != question.right)
    return tuple(question.mistakes)
