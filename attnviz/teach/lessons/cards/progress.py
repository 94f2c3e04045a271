"""The learner's settings and answers, and their text form in an address.

In: the parts "factor=2.0&text=Hi" (values of a card's controls) and "sizes=64&erratum=0.5&mix=?"
(answers of a lesson's cards; "?" where the answer was shown instead, "right!" where it was not the
first; "mix~" is the card mix when it came back with the numbers of another seed). Out: mappings,
or `BadInput`. Verdicts are not kept: `grade` judges an answer each time.
"""

from collections.abc import Mapping
from typing import Literal, get_args
from urllib.parse import quote_plus, unquote_plus

from attnviz import notation
from attnviz.errors import BadInput
from attnviz.notation import TextForm, refusal
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    ChoiceQuestion,
    NumberQuestion,
    Question,
)
from attnviz.teach.lessons.cards.grade import Answer, Verdict, grade

SHOWN = "?"
RETRIED = "!"  # behind an answer that is not the first; alone where the question is asked again
CAME_BACK = "~"  # behind the name of a card that was asked again, with other numbers
SEED = "seed"  # among the values of a card: that of its numbers
MAX_NUMBER = 1e12
Standing = Literal["right", "later", "wrong", "shown"]  # "later": right, but not at the first try
STANDINGS: tuple[Standing, ...] = get_args(Standing)


def _refusal(part: str, reason: str) -> BadInput:
    example = "name=answer&name=answer"
    return refusal("not_an_answer", "the answers", part, reason, example)


FORM = TextForm(_refusal, separator="&", max_chars=2000, max_entries=36)


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


def seed_of(values: Mapping[str, str], last: int) -> int:
    """The seed among a card's values, 1 to `last`; 0, that of the lesson, for none or nonsense."""
    seed = notation.index(values.get(SEED, ""))
    return seed if seed is not None and seed <= last else 0


def answer_of(question: Question, text: str) -> Answer | None:
    """The answer in a text form; None for a text that is not an answer to the question."""
    match question:
        case NumberQuestion():
            return number(text)
        case CellQuestion():
            cell = notation.indices(text, 2)
            return None if cell is None else (cell[0], cell[1])
        case ChoiceQuestion():
            return text if text in question.options else None


def text_of(answer: Answer) -> str:
    """The text form of an answer, a whole number without decimals."""
    if isinstance(answer, tuple):
        return notation.write_indices(*answer)
    whole = isinstance(answer, float) and answer.is_integer()
    return str(int(answer) if whole else answer)


def number(text: str) -> float | None:
    """The number that a learner typed, None for none; a decimal comma and a minus sign are fine.

    >>> number("−0,25")
    -0.25
    """
    plain = text.strip().replace("−", "-").replace(",", ".")
    value = notation.number(plain)
    return None if value is None or abs(value) >= MAX_NUMBER else value


def tried(before: str, text: str) -> str:
    """The entry for an answer, "" for none, given after the entry `before`.

    >>> tried("", "same"), tried("same", "even"), tried("even!", ""), tried("!", "same")
    ('same', 'even!', '!', 'same!')
    """
    is_first = not before or before == text
    return text if is_first else text.removesuffix(RETRIED) + RETRIED


def answer_text(name: str, answers: Mapping[str, str]) -> str:
    """The learner's answer to a card, as text; "" for none."""
    return "" if is_shown(name, answers) else _entry(name, answers)


def is_shown(name: str, answers: Mapping[str, str]) -> bool:
    """True if the answer to a card was shown instead of given."""
    return _entry(name, answers) == SHOWN


def _entry(name: str, answers: Mapping[str, str]) -> str:
    return answers.get(name, "").removesuffix(RETRIED)


def verdict(card: Card, answers: Mapping[str, str]) -> Verdict | None:
    """The verdict on a card's answer; None without one."""
    if card.question is None:
        return None
    answer = answer_of(card.question, answer_text(card.name, answers))
    return None if answer is None else grade(card.question, answer)


def standing(card: Card, answers: Mapping[str, str]) -> Standing | None:
    """The standing of a card; None for an entry that is no answer to its question."""
    if is_shown(card.name, answers):
        return "shown"
    judged = verdict(card, answers)
    if judged is None or not judged.right:
        return None if judged is None else "wrong"
    return "later" if answers[card.name].endswith(RETRIED) else "right"


def read_standings(text: str) -> dict[str, Standing]:
    """The standings of cards in a text form that a browser has kept; what is none is left out."""
    named = {standing: standing for standing in STANDINGS}
    try:
        return {name: named[value] for name, value in parse(text).items() if value in named}
    except BadInput:
        return {}


def is_open(card: Card, answers: Mapping[str, str]) -> bool:
    """True if the card still keeps its answer back."""
    if card.question is None or is_shown(card.name, answers):
        return False
    judged = verdict(card, answers)
    return judged is None or not judged.right
