"""What a learner set and answered: read, written, and judged anew each time."""

import numpy as np
import pytest

from attnviz.errors import BadInput
from attnviz.pictures.board import Board, Panel
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    ChoiceQuestion,
    NumberQuestion,
    Question,
)
from attnviz.teach.lessons.cards.grade import Answer, Verdict
from attnviz.teach.lessons.cards.progress import (
    SHOWN,
    answer_of,
    is_open,
    number,
    parse,
    standing,
    text_of,
    tried,
    verdict,
    write,
)

NUMBER = NumberQuestion(0.5, 0.01, {"half": 0.25})
CELL = CellQuestion("m", frozenset({(0, 1)}))
CHOICE = ChoiceQuestion(("rows", "columns"), "rows")
BOARD = Board((Panel("m", np.eye(2)),))


def test_entries_come_back_as_they_went() -> None:
    entries = {"first": "0.25", "text": "Hi & <b>, 日本", "mix": SHOWN}
    assert parse(write(entries)) == entries
    assert parse("") == {}


@pytest.mark.parametrize(
    "nonsense",
    ["a", "a=1&b", "a=" + "x" * 2000, "&".join(f"a{n}=1" for n in range(40)), "a=1&&b=2"],
)
def test_nonsense_is_refused(nonsense: str) -> None:
    with pytest.raises(BadInput):
        parse(nonsense)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("0.25", 0.25),
        (" −0,25 ", -0.25),
        ("1e-3", 1e-3),
        ("x", None),
        ("nan", None),
        ("1e99", None),
    ],
)
def test_a_number_is_read_as_people_write_it(typed: str, meant: float | None) -> None:
    assert number(typed) == meant


@pytest.mark.parametrize(
    ("question", "answer"), [(NUMBER, 0.25), (CELL, (0, 1)), (CHOICE, "columns")]
)
def test_answers_have_a_text_form(question: Question, answer: Answer) -> None:
    assert answer_of(question, text_of(answer)) == answer


def test_a_whole_number_comes_back_as_it_was_typed() -> None:
    assert [text_of(number(typed) or 0.0) for typed in ("2", "2.0", "-3", "0.5", "0")] == [
        *("2", "2", "-3", "0.5", "0")
    ]


@pytest.mark.parametrize(
    ("question", "text"),
    [(NUMBER, "x"), (CELL, "1"), (CELL, "1.-1"), (CELL, "1.x"), (CHOICE, "diagonals")],
)
def test_what_is_no_answer_is_none(question: Question, text: str) -> None:
    assert answer_of(question, text) is None


def test_a_card_stays_open_until_it_is_answered_right_or_shown() -> None:
    card = Card("c", pictures=(BOARD,), question=NUMBER)
    assert is_open(card, {}) and verdict(card, {}) is None
    assert is_open(card, {"c": "0.25"}) and verdict(card, {"c": "0.25"}) == Verdict(False, "half")
    assert not is_open(card, {"c": "0.5"})
    assert not is_open(card, {"c": SHOWN}) and verdict(card, {"c": SHOWN}) is None
    assert is_open(card, {"c": "nonsense"})
    assert not is_open(Card("plain"), {})


@pytest.mark.parametrize(
    ("given", "found"), [("0.5", "right"), ("0.25", "wrong"), (SHOWN, "shown"), ("x", None)]
)
def test_a_card_stands_as_it_was_answered(given: str, found: str | None) -> None:
    """An answer to a question that the card asked in an earlier release counts as none."""
    card = Card("half", question=NUMBER)
    assert standing(card, {"half": given}) == found


def test_standing_counts_the_first_try() -> None:
    """Options tried one after the other end right, and do not count as right."""
    card = Card("c", question=CHOICE)
    entry = ""
    for answer, wanted in (("columns", "wrong"), ("rows", "later"), ("", None), ("rows", "later")):
        entry = tried(entry, answer)
        assert standing(card, {"c": entry}) == wanted, entry
    assert standing(card, {"c": tried("", "rows")}) == "right"
    assert standing(card, {"c": tried("rows", "rows")}) == "right", "the same answer again"
    shown = tried("columns", SHOWN)
    assert standing(card, {"c": shown}) == "shown" and not is_open(card, {"c": shown})
    assert parse(write({"c": entry})) == {"c": entry}
