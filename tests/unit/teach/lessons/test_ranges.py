"""One measure of colour for panels that hold the same kind of number."""

import numpy as np

from attnviz.pictures.board import Board, Panel, largest
from attnviz.teach.lessons.cards.card import Card, Chart, ChoiceQuestion, ranges


def board(name: str, *values: float, scale: str = "") -> Board:
    return Board((Panel(name, np.array([values]), scale=scale),))


def test_a_scale_reaches_over_pictures_reveal_and_options() -> None:
    card = Card(
        "card",
        pictures=(board("a", 1.0, -3.0, scale="s"), Chart("x", "y", ()), board("b", 99.0)),
        question=ChoiceQuestion(("one",), "one", {"one": board("c", 7.0, scale="t")}),
        reveal=(board("d", 5.0, -np.inf, np.nan, scale="s"),),
    )
    assert ranges(card) == {"s": 5.0, "t": 7.0}


def test_infinite_and_undefined_values_have_no_size() -> None:
    assert largest(Panel("a", np.array([[np.nan, np.inf, -0.5]]))) == 0.5
    assert largest(Panel("a", np.array([[np.nan]]))) == 0.0
