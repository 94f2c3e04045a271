"""What a learner set and answered, and the text forms of both that stand in an address.

In: the parts "factor=2.0&text=Hi" (values of a card's controls) and "sizes=64&erratum=1.0&mix=?"
(answers of a lesson's cards; "?" where the answer was shown instead). Out: frozen mappings, or
`BadInput`. Whether an answer is right is not kept: `grade` says so each time.
"""

from collections.abc import Mapping
from typing import Literal
from urllib.parse import parse_qsl, urlencode

from attnviz.errors import BadInput
from attnviz.lessons.cards.card import Card, CellQuestion, ChoiceQuestion, NumberQuestion, Question
from attnviz.lessons.cards.grade import Answer, Verdict, grade

SHOWN = "?"
HELD = "~"  # before an answer that is noted and judged later, as in a class
MOST_CHARS = 2000
Standing = Literal["right", "wrong", "shown"]
MOST_ENTRIES = 24


def parse(text: str) -> dict[str, str]:
    """The entries of a text form; `BadInput` for nonsense."""
    try:
        entries = parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text))
    except ValueError:
        entries = []
    if len(text) > MOST_CHARS or len(entries) > MOST_ENTRIES or bool(entries) != bool(text):
        raise BadInput(
            f"{text[:40]!r} is no list of answers; write it as name=answer&name=answer",
            code="not_an_answer",
            asked=text[:40],
        )
    return dict(entries)


def write(entries: Mapping[str, object]) -> str:
    """The text form of `parse`."""
    return urlencode({name: str(value) for name, value in entries.items()})


def answer_of(question: Question, text: str) -> Answer | None:
    """An answer from its text form; None where it is none."""
    match question:
        case NumberQuestion():
            return number(text)
        case CellQuestion():
            row, _, column = text.partition(".")
            is_cell = row.isdecimal() and column.isdecimal() and len(text) < 12
            return (int(row), int(column)) if is_cell else None
        case ChoiceQuestion():
            return text if text in question.options else None


def text_of(answer: Answer) -> str:
    """The text form of an answer."""
    return f"{answer[0]}.{answer[1]}" if isinstance(answer, tuple) else str(answer)


def number(text: str) -> float | None:
    """What a learner typed as a number: a decimal comma and a real minus sign are fine too.

    >>> number("−0,25")
    -0.25
    """
    plain = text.strip().replace("−", "-").replace(",", ".")
    try:
        found = float(plain)
    except ValueError:
        return None
    return found if abs(found) < 1e12 else None


def given(name: str, answers: Mapping[str, str]) -> str:
    """What a learner answered to the card of that name; "" for nothing."""
    found = answers.get(name, "").removeprefix(HELD)
    return "" if found == SHOWN else found


def is_held(name: str, answers: Mapping[str, str]) -> bool:
    """Whether the card of that name does not judge yet."""
    return answers.get(name, "").startswith(HELD)


def verdict(card: Card, answers: Mapping[str, str]) -> Verdict | None:
    """How the card's question was answered; None where it was not, or the answer was shown."""
    if card.question is None or is_held(card.name, answers):
        return None
    answer = answer_of(card.question, given(card.name, answers))
    return None if answer is None else grade(card.question, answer)


def standing(card: Card, answers: Mapping[str, str]) -> Standing:
    """How a card stands that has an entry among the answers."""
    found = verdict(card, answers)
    return "shown" if found is None else "right" if found.right else "wrong"


def is_open(card: Card, answers: Mapping[str, str]) -> bool:
    """Whether the card still keeps its answer back."""
    if card.question is None or answers.get(card.name) == SHOWN:
        return False
    found = verdict(card, answers)
    return found is None or not found.right
