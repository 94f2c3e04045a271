"""Answers: right, wrong in a way that was expected, or wrong in another."""

import pytest

from attnviz.errors import BadInput
from attnviz.teach.lessons.cards.card import CellQuestion, ChoiceQuestion, NumberQuestion
from attnviz.teach.lessons.cards.grade import RIGHT, Answer, Verdict, grade, mistakes

NUMBER = NumberQuestion(0.891, 0.005, {"divided": 0.667, "swapped": 0.109})
CELL = CellQuestion("weights", frozenset({(2, 1)}), {"transposed": frozenset({(1, 2)})})
CHOICE = ChoiceQuestion(("rows", "columns"), "rows")


@pytest.mark.parametrize(
    ("question", "answer", "verdict"),
    [
        (NUMBER, 0.89, RIGHT),
        (NUMBER, 0.67, Verdict(False, "divided")),
        (NUMBER, 0.11, Verdict(False, "swapped")),
        (NUMBER, 5, Verdict(False, "other")),
        (CELL, (2, 1), RIGHT),
        (CELL, (1, 2), Verdict(False, "transposed")),
        (CELL, (0, 0), Verdict(False, "other")),
        (CHOICE, "rows", RIGHT),
        (CHOICE, "columns", Verdict(False, "columns")),
    ],
)
def test_an_answer_is_judged_by_the_mistake_it_shows(
    question: NumberQuestion | CellQuestion | ChoiceQuestion, answer: Answer, verdict: Verdict
) -> None:
    assert grade(question, answer) == verdict


EIGHTH = NumberQuestion(1.0, 0.125, {"doubled": 2.0, "tripled": 2.25})


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (1.125, RIGHT),
        (0.875, RIGHT),
        (1.1251, Verdict(False, "other")),
        (0.8749, Verdict(False, "other")),
        (1.875, Verdict(False, "doubled")),
        (1.8749, Verdict(False, "other")),
        (2.12, Verdict(False, "doubled")),
        (2.13, Verdict(False, "tripled")),
        (2.375, Verdict(False, "tripled")),
    ],
)
def test_grade_takes_an_answer_at_the_edge_of_the_tolerance(
    answer: float, verdict: Verdict
) -> None:
    """An eighth is exact in binary: the edges belong to the answer, the nearest mistake counts."""
    assert grade(EIGHTH, answer) == verdict


@pytest.mark.parametrize(
    ("question", "answer"),
    [(NUMBER, float("nan")), (NUMBER, "0.9"), (CELL, 3.0), (CHOICE, "diagonals"), (CHOICE, (0, 0))],
)
def test_an_answer_of_another_kind_is_refused(
    question: NumberQuestion | CellQuestion | ChoiceQuestion, answer: Answer
) -> None:
    with pytest.raises(BadInput) as raised:
        grade(question, answer)
    assert raised.value.code == "not_an_answer"


def test_mistakes_are_listed_for_their_feedback() -> None:
    assert mistakes(NUMBER) == ("divided", "swapped")
    assert mistakes(CELL) == ("transposed",)
    assert mistakes(CHOICE) == ("columns",)
