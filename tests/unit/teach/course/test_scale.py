"""Lesson 3: the variance of scores, what it does to a softmax, and what a temperature keeps."""

import math
from typing import cast

import numpy as np
import pytest
import torch

from attnviz.attention.capture import Capture
from attnviz.pictures.board import Board
from attnviz.teach.course.arrays import softmax
from attnviz.teach.course.recipe import CaptureText, CardInputs
from attnviz.teach.course.scale import (
    LESSON,
    TEMPERATURES,
    WIDTHS,
    gradient_size,
    measured_variance,
    rows_at,
    scores_at,
)
from attnviz.teach.lessons.cards.card import (
    Card,
    Chart,
    ChoiceQuestion,
    NumberQuestion,
    Value,
)
from tests.support.course import captured


def _no_model(*_: object) -> Capture:
    raise AssertionError("this card needs no model")


def _card(name: str, seed: int = 0, capture: CaptureText = _no_model, **values: Value) -> Card:
    recipe = LESSON.recipe(name)
    return recipe.build(CardInputs(recipe.start_values() | values, seed, capture))


def _panels(card: Card, board: int = 0) -> dict[str, np.ndarray]:
    picture = (card.pictures or card.reveal)[board]
    assert isinstance(picture, Board)
    return {panel.name: panel.values for panel in picture.panels}


def _number(card: Card, name: str) -> float:
    return float(cast(float, card.numbers[name]))


@pytest.mark.parametrize("seed", range(3))
def test_the_variance_of_a_score_is_the_width(seed: int) -> None:
    for width, measured in measured_variance(seed).items():
        # 4000 scores, of which 8 share a query: the measured variance is within 10 % of d_k
        assert measured == pytest.approx(width, rel=0.1)
    question = _card("grows", seed).question
    assert isinstance(question, NumberQuestion) and question.answer in (64, 256, 16)


def test_the_root_alone_brings_the_deviation_back_to_one() -> None:
    card = _card("divisor")
    assert _number(card, "by_root") == pytest.approx(1, abs=0.05)
    assert _number(card, "by_whole") == pytest.approx(1 / 8, abs=0.01)
    chart = card.reveal[0]
    assert isinstance(chart, Chart)
    narrow, wide, flat = chart.series
    assert np.abs(narrow.y - wide.y).max() < 0.03 < np.abs(flat.y - wide.y).max()


def test_with_the_divisor_entropy_and_gradient_do_not_depend_on_the_width() -> None:
    entropy, gradient = rows_at(0)
    divided = np.array([[of[width][0] for width in WIDTHS] for of in (entropy, gradient)])
    undivided = np.array([[of[width][1] for width in WIDTHS] for of in (entropy, gradient)])
    assert np.ptp(divided, axis=1) == pytest.approx([0, 0], abs=0.1)
    assert (np.diff(undivided, axis=1) < 0).all()
    assert undivided[0, -1] < 0.2 and undivided[1, -1] < divided[1, -1] / 5


def test_the_size_of_the_gradient_is_that_of_autograds_jacobian() -> None:
    scores = torch.from_numpy(scores_at(16, 0)[0])
    jacobian = torch.autograd.functional.jacobian(lambda row: torch.softmax(row, 0), scores)
    size = float(torch.linalg.matrix_norm(jacobian))
    assert gradient_size(softmax(scores.numpy()[None]))[0] == pytest.approx(size, rel=1e-9)


def test_the_lab_shows_one_row_with_and_without_the_divisor() -> None:
    panels = _panels(_card("lab", d_k=256.0))
    scores = scores_at(256, 0)[:1]
    assert np.allclose(panels["control"], softmax(scores / 16))
    assert np.allclose(panels["changed"], softmax(scores))


@pytest.mark.parametrize("seed", range(3))
def test_the_slope_is_a_times_one_minus_a(seed: int) -> None:
    card = _card("slope", seed)
    assert isinstance(card.question, NumberQuestion)
    weight, step = _number(card, "weight"), _number(card, "step")
    assert card.question.answer == pytest.approx(weight * (1 - weight))
    assert _number(card, "moved") / step == pytest.approx(card.question.answer, abs=2e-3)
    assert set(card.question.mistakes) == {"weight", "rest", "half"}


def test_the_pictures_differ_as_their_options_say() -> None:
    for seed in range(3):
        question = _card("pictures", seed).question
        assert isinstance(question, ChoiceQuestion) and question.right == "root"
        largest = {
            name: board.panels[0].values.max(axis=1).mean()
            for name, board in question.pictures.items()
        }
        assert largest["flat"] < 0.25 < largest["root"] < 0.5 < largest["sharp"]


def test_no_temperature_changes_the_order_and_its_ends_are_one_hot_and_even() -> None:
    rows = [_panels(_card("temperature", temperature=each))["changed"][0] for each in TEMPERATURES]
    assert {tuple(np.argsort(row)) for row in rows} == {tuple(np.argsort(rows[0]))}
    assert rows[0].max() > 0.999 and np.ptp(rows[-1]) < 0.02
    control = _card("temperature", temperature=1.0)
    assert np.array_equal(_panels(control)["changed"], _panels(control)["control"])


def test_adding_to_all_scores_changes_nothing() -> None:
    for seed in range(3):
        assert _number(_card("shift", seed), "difference") < 1e-12
    assert _number(_card("shift"), "doubled") > _number(_card("shift"), "before")


def test_a_trained_head_sets_its_own_variance() -> None:
    card = _card("real", capture=captured)
    assert card.numbers["d_k"] == 32 and card.numbers["query"] == "it"
    assert _number(card, "variance") == pytest.approx(104.9, abs=0.2)
    # at first: 384 products of inputs of variance 1 and weights of 0.02 make an entry of q or k
    assert _number(card, "initial") == pytest.approx(32 * (384 * 0.02**2) ** 2)
    assert _number(card, "changed") < _number(card, "control") < math.log2(16)
    same = _card("real", capture=captured, by="root")
    assert np.allclose(_panels(same)["control"], _panels(same)["changed"])
    whole = captured("minilm", str(LESSON.recipe("real").start_values()["text"]))
    stages = whole.call(3).stages(1)
    by_hand = (stages["q"] @ stages["k"].T).var(dim=1).mean()
    assert _number(card, "variance") == pytest.approx(float(by_hand), rel=1e-4)
    row = whole.weights(3, 1)[whole.tokens.labels.index("it")]
    assert np.allclose(_panels(same)["control"][0], row, atol=1e-6)
