"""Lesson 13 reproduces the lecture note's numbers to the digit, and shows what is wrong in them."""

import math

import numpy as np
import pytest
import torch

from attnviz.attention.capture import Capture
from attnviz.pictures.board import Board
from attnviz.teach.calculator.presets import preset
from attnviz.teach.course.errata import LESSON, printed_weights, products, right_weights
from attnviz.teach.course.recipe import CaptureText, CardInputs
from attnviz.teach.lessons.cards.card import Card, ChoiceQuestion, NumberQuestion, Value

# as the note prints them
PRINTED = """0.173 0.105 0.163 0.301 0.240
0.432 0.384 0.447 0.206 0.189
0.129 0.284 0.152 0.209 0.112
0.127 0.065 0.100 0.123 0.289
0.139 0.162 0.138 0.160 0.170"""
ROW_SUMS = [0.982, 1.658, 0.886, 0.704, 0.769]
FIRST_OUTPUT = [-0.48113832, 0.37745091, -0.75004649]


def _no_model(*_: object) -> Capture:
    raise AssertionError("this card needs no model")


def _card(name: str, seed: int = 0, capture: CaptureText = _no_model, **values: Value) -> Card:
    recipe = LESSON.recipe(name)
    return recipe.build(CardInputs(recipe.start_values() | values, seed, capture))


def _panel(card: Card, name: str, board: int = 0, reveal: bool = False) -> np.ndarray:
    picture = (card.reveal if reveal or not card.pictures else card.pictures)[board]
    assert isinstance(picture, Board)
    return next(panel.values for panel in picture.panels if panel.name == name)


def test_the_printed_weights_are_reproduced() -> None:
    as_printed = np.array([row.split() for row in PRINTED.splitlines()], dtype=float)
    assert np.array_equal(printed_weights(), as_printed)
    assert np.allclose(printed_weights().sum(axis=1), ROW_SUMS, atol=5e-4)
    # the note's own program, with NumPy alone
    draws = np.random.RandomState(0)
    q, k, _ = (draws.normal(size=(5, 3)) for _ in range(3))
    exponents = np.exp(q @ k.T / 3)
    assert np.array_equal(np.round(exponents / exponents.sum(axis=0), 3), as_printed)


def test_the_printed_output_comes_from_rounded_weights() -> None:
    card = _card("digits")
    assert np.allclose(_panel(card, "printed")[0], FIRST_OUTPUT, atol=5e-9)
    unrounded = _panel(card, "unrounded", reveal=True)[0]
    assert 1e-4 < np.abs(unrounded - FIRST_OUTPUT).max() < 2e-3


def test_rows_of_the_right_weights_sum_to_one_and_torch_agrees() -> None:
    given = {name: torch.from_numpy(of) for name, of in preset("seeded").matrices.items()}
    q, k = given["q"], given["k"]
    assert np.allclose(right_weights().sum(axis=1), 1)
    assert np.allclose(right_weights(), torch.softmax(q @ k.T / math.sqrt(3), dim=1))
    assert not np.allclose(printed_weights().sum(axis=1), 1, atol=0.01)


def test_the_learner_finds_both_mistakes() -> None:
    axis, divisor = _card("axis"), _card("divisor")
    assert isinstance(axis.question, NumberQuestion) and axis.question.answer == pytest.approx(
        1.658
    )
    assert isinstance(divisor.question, NumberQuestion) and divisor.question.answer == 3
    quotient = products() / _panel(divisor, "divided")
    assert np.allclose(quotient, divisor.question.answer)


@pytest.mark.parametrize(
    ("sums", "by", "off"),
    [("columns", "whole", 0.2865), ("columns", "root", 0.4108), ("rows", "root", 0.0)],
)
def test_repairing_one_mistake_alone_makes_it_worse(sums: str, by: str, off: float) -> None:
    card = _card("repair", sums=sums, by=by)
    assert card.numbers["changed"] == pytest.approx(off, abs=5e-5)
    assert card.numbers["control"] == pytest.approx(0.2865, abs=5e-5)


def test_one_repair_alone_leads_further_away() -> None:
    card = _card("repair", sums="columns", by="root")
    assert card.numbers["one"] == card.numbers["changed"] > card.numbers["control"]
    assert isinstance(card.question, ChoiceQuestion) and card.question.right == "further"


def test_the_printed_row_divides_absolute_values() -> None:
    numbers = _card("erratum").numbers
    assert round(1.4 / (1.4 + 0.7), 2) == numbers["printed"] == 0.67
    np.testing.assert_allclose(float(numbers["computed"]), 1 / (1 + np.exp(-2.1)))
