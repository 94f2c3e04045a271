"""How a class's answers are named: every answer that a card knows, the right one among them."""

import numpy as np
import pytest

from attnviz.pictures.board import Board, Panel
from attnviz.teach.classroom.room import LABEL, Tally
from attnviz.teach.classroom.tally import answer_bars, label
from attnviz.teach.lessons.cards.card import Card, CellQuestion, ChoiceQuestion, NumberQuestion
from attnviz.teach.lessons.cards.grade import RIGHT, Verdict, grade
from attnviz.teach.lessons.cards.texts import LessonTexts

TEXTS = LessonTexts(
    "t", "s", "g", "k", "d", {"c": {"option.yes": "It is [[n]]", "option.no": "**No**"}}
)
BOARD = Board((Panel("p", np.zeros((2, 3)), rows=("a", "b")),))
NUMBER = NumberQuestion(0.891, 0.006, {"divided": 0.667, "swapped": 1.09})
CELLS = CellQuestion(
    "p", frozenset((1, column) for column in range(3)), {"first": frozenset({(0, 0)})}
)


def test_a_number_stands_among_its_mistakes_by_size() -> None:
    tally = Tally({"right": 3, "not_divided": 2, "not_other": 1}, 6)
    found = answer_bars(Card("c", question=NUMBER), TEXTS, "en", tally)
    assert [(bar.words, bar.count, bar.right) for bar in found] == [
        ("0.667", 2, False),
        ("0.891", 3, True),
        ("1.090", 0, False),
        ("another answer", 1, False),
    ]


def test_options_are_said_as_the_card_says_them() -> None:
    card = Card("c", {"n": 3}, question=ChoiceQuestion(("no", "yes"), "yes"))
    found = answer_bars(card, TEXTS, "en", Tally({"not_no": 1}, 1))
    assert [(bar.words, bar.count, bar.right) for bar in found] == [
        ("No", 1, False),
        ("It is 3", 0, True),
    ]


def test_cells_are_named_by_row_and_column() -> None:
    found = answer_bars(Card("c", pictures=(BOARD,), question=CELLS), TEXTS, "en", Tally({}, 0))
    assert [bar.words for bar in found] == ["row a (0), column 0", "row b (1)", "another answer"]
    assert [bar.right for bar in found] == [False, True, False]


def test_before_the_reveal_only_what_was_answered_is_named() -> None:
    number = Card("c", question=NUMBER)
    assert answer_bars(number, TEXTS, "en", Tally({}, 0), revealed=False) == []
    tally = Tally({"not_divided": 2, "not_other": 1}, 3)
    found = answer_bars(number, TEXTS, "en", tally, revealed=False)
    assert [(bar.words, bar.count) for bar in found] == [("0.667", 2), ("another answer", 1)]
    cells = Card("c", pictures=(BOARD,), question=CELLS)
    assert answer_bars(cells, TEXTS, "en", Tally({}, 0), revealed=False) == []
    choice = Card("c", {"n": 3}, question=ChoiceQuestion(("no", "yes"), "yes"))
    found = answer_bars(choice, TEXTS, "en", Tally({}, 0), revealed=False)
    assert [bar.words for bar in found] == ["No", "It is 3"]  # the question shows them already


def test_a_card_without_a_question_has_no_bars() -> None:
    assert answer_bars(Card("c"), TEXTS, "en", Tally({}, 0)) == []


@pytest.mark.parametrize(
    ("answer", "counted"), [(0.89, "right"), (0.667, "not_divided"), (5.0, "not_other")]
)
def test_what_was_typed_is_counted_by_what_it_shows(answer: float, counted: str) -> None:
    found = label(grade(NUMBER, answer))
    assert found == counted and LABEL.fullmatch(found)


def test_a_wrong_option_called_right_is_not_counted_as_right() -> None:
    assert label(Verdict(False, "right")) != label(RIGHT)
