"""Lesson 14: what it counts is counted here in another way."""

import numpy as np
import pytest

from attnviz.teach.course.cost import products, reached, sliding
from attnviz.teach.lessons.cards.card import NumberQuestion
from attnviz.teach.lessons.cards.grade import grade
from tests.support.course import captured, card, panel


def asked(name: str, seed: int = 0) -> float:
    question = card("cost", name, seed).question
    assert isinstance(question, NumberQuestion)
    return float(question.answer)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_cells_outgrow_the_matrices_from_the_answer_on(seed: int) -> None:
    numbers = card("cost", "grows", seed).numbers
    d_model, n_tokens = int(numbers["d_model"]), np.array([asked("grows", seed)])
    for tokens, larger in ((n_tokens - 1, "projections"), (n_tokens + 1, "cells")):
        cost = products(tokens, d_model)
        assert max(cost, key=lambda name: float(cost[name][0])) == larger
    question = card("cost", "grows", seed).question
    assert isinstance(question, NumberQuestion)
    assert grade(question, float(n_tokens[0] + 1)).right  # the first that costs more
    assert not grade(question, float(n_tokens[0] + 2)).right
    # one query with n keys: n·d products, and as many for the values
    assert products(np.array([3.0]), 5)["cells"] == 3 * 3 * 5 * 2


def test_a_causal_mask_keeps_earlier_keys_and_an_encoder_does_not() -> None:
    numbers = card("cost", "cache").numbers
    assert float(numbers["kept"]) < 1e-5 < 0.5 < float(numbers["encoder"])
    first, *higher = panel(card("cost", "cache"), "encoder").values[0]
    assert first == 0 and min(higher) > 0.1  # the first layer reads each token by itself


def test_the_cache_of_grouped_queries_is_what_the_model_keeps() -> None:
    calls = [
        captured("stories-llama", "Lily gave the red ball to").call(n).inputs for n in range(4)
    ]
    kept = sum(each[0, :, 0].numel() for call in calls for each in (call.key, call.value))
    assert asked("gqa") == kept
    assert panel(card("cost", "gqa"), "reads").values.sum(axis=0).tolist() == [3, 3]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_window_leaves_the_cells_that_are_counted_one_by_one(seed: int) -> None:
    numbers = card("cost", "window", seed).numbers
    n_tokens, window = int(numbers["n"]), int(numbers["window"])
    assert asked("window", seed) == sum(min(row + 1, window) for row in range(n_tokens))
    assert numbers["twice"] == sum(min(row + 1, window) for row in range(2 * n_tokens))


def test_layers_carry_news_one_window_further_each() -> None:
    cells = sliding(9, 3)
    for layers in (1, 2, 3):
        back = [row - int(reached(cells, layers)[row].argmax()) for row in range(9)]
        assert back == [min(row, 2 * layers) for row in range(9)]
    assert asked("reach") == 4
