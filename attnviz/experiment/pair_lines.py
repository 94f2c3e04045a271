"""Pairs as lines of text, as they are pasted into a page or kept in a file.

In: lines of four parts between | or tabs: a text, the answer it should get, its partner, the
answer that this should get. Out: `AnsweredPair`s, and what `attnviz.experiment` takes of them; a
line of another form is refused by its number.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.errors import BadInput
from attnviz.experiment.answer_measures import AnswerMeasure, Class, NextToken
from attnviz.models.loaded_model import LoadedModel
from attnviz.summary import shortened

MAX_PAIRS = 400
BETWEEN = re.compile(r"[|\t]")  # spaces around it are taken off each part


@dataclass(frozen=True)
class AnsweredPair:
    """A text and its partner, each with the answer that it should get."""

    text: str
    answer: str
    other: str
    other_answer: str

    def __str__(self) -> str:
        return " | ".join((self.text, self.answer, self.other, self.other_answer))


def read_pairs(lines: str) -> tuple[AnsweredPair, ...]:
    """The pairs of some lines; empty lines are left out.

    Raises `BadInput` for a line without four parts, two equal answers, and more than `MAX_PAIRS`.
    """
    given = [(at, line) for at, line in enumerate(lines.splitlines(), 1) if line.strip()]
    if len(given) > MAX_PAIRS:
        raise BadInput(
            f"{len(given)} pairs were given; at most {MAX_PAIRS} are measured at once",
            code="too_many_pairs",
            found=len(given),
            limit=MAX_PAIRS,
        )
    return tuple(_pair(at, line) for at, line in given)


def _pair(at: int, line: str) -> AnsweredPair:
    parts = [part.strip() for part in BETWEEN.split(line)]
    if len(parts) != 4 or not all(parts):
        raise BadInput(
            f"line {at}, {shortened(repr(line))}, is not of the form text | answer | partner | its"
            " answer",
            code="bad_pair",
            line=at,
        )
    pair = AnsweredPair(*parts)
    if pair.answer == pair.other_answer:
        raise BadInput(
            f"line {at}: both texts should get {shortened(repr(pair.answer))}; the two answers of a"
            " pair have to differ",
            code="equal_answers",
            line=at,
            answer=shortened(pair.answer),
        )
    return pair


def asked(
    lm: LoadedModel, pairs: Sequence[AnsweredPair]
) -> tuple[list[tuple[str, str]], list[AnswerMeasure]]:
    """(the texts with their partners, the measure of each): the lead of the one answer.

    An answer of a language model is the token with a space before it, where there is one.
    """
    texts = [(pair.text, pair.other) for pair in pairs]
    if lm.kind != "decoder":
        return texts, [Class(pair.answer, against=pair.other_answer) for pair in pairs]
    return texts, [
        NextToken(_word(lm, pair.answer), against=_word(lm, pair.other_answer)) for pair in pairs
    ]


def _word(lm: LoadedModel, answer: str) -> str:
    spaced = f" {answer}"
    is_one = len(lm.tokenize(spaced, add_special_tokens=False)["input_ids"]) == 1
    return spaced if is_one else answer
