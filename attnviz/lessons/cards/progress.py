"""What a learner set and answered, and the text forms of both that stand in an address.

In: the parts "factor=2.0&text=Hi" (values of a card's controls) and "sizes=64&erratum=1.0&mix=?"
(answers of a lesson's cards; "?" where the answer was shown instead). Out: frozen mappings, or
`BadInput`. Whether an answer is right is not kept: `grade` says so each time.
"""

from collections.abc import Mapping
from typing import Literal
from urllib.parse import quote_plus, unquote_plus

from attnviz import notation
from attnviz.errors import BadInput
from attnviz.lessons.cards.card import Card, CellQuestion, ChoiceQuestion, NumberQuestion, Question
from attnviz.lessons.cards.grade import Answer, Verdict, grade
from attnviz.notation import TextForm, refusal

SHOWN = "?"
HELD = "~"  # before an answer that is noted and judged later, as in a class
MAX_NUMBER = 1e12
Standing = Literal["right", "wrong", "shown"]


def _refusal(part: str, reason: str) -> BadInput:
    example = "name=answer&name=answer"
    return refusal("not_an_answer", "the answers", part, reason, example)


FORM = TextForm(_refusal, separator="&", max_chars=2000, max_entries=24)


def parse(text: str) -> dict[str, str]:
    """The entries of a text form; `BadInput` for nonsense."""
    return FORM.parse(text, _parse_entry)


def _parse_entry(part: str) -> tuple[str, str]:
    name, equals, value = part.partition("=")
    if not equals:
        raise _refusal(part, "an answer has a name")
    return unquote_plus(name), unquote_plus(value)


def write(entries: Mapping[str, object]) -> str:
    """The text form of `parse`."""
    return FORM.write(
        f"{quote_plus(name)}={quote_plus(str(value))}" for name, value in entries.items()
    )


def answer_of(question: Question, text: str) -> Answer | None:
    """An answer from its text form; None where it is none."""
    match question:
        case NumberQuestion():
            return number(text)
        case CellQuestion():
            cell = notation.indices(text, 2)
            return None if cell is None else (cell[0], cell[1])
        case ChoiceQuestion():
            return text if text in question.options else None


def text_of(answer: Answer) -> str:
    """The text form of an answer."""
    return notation.write_indices(*answer) if isinstance(answer, tuple) else str(answer)


def number(text: str) -> float | None:
    """What a learner typed as a number: a decimal comma and a real minus sign are fine too.

    >>> number("−0,25")
    -0.25
    """
    plain = text.strip().replace("−", "-").replace(",", ".")
    value = notation.number(plain)
    return None if value is None or abs(value) >= MAX_NUMBER else value


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
