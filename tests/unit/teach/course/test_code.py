"""Lesson 12: what programs do with masks, in numbers of torch and transformers."""

import math
from typing import cast

import numpy as np
import pytest
import torch

from attnviz.attention.capture import Capture
from attnviz.capture.blocked_rows import IMPLEMENTATIONS, blocked_rows
from attnviz.masks.code import CONVENTIONS
from attnviz.pictures.board import Board, Panel
from attnviz.teach.course.code import FILLS, LESSON, N, masked_with, multihead_weights
from attnviz.teach.course.recipe import CaptureText, CardInputs
from attnviz.teach.lessons.cards.card import Card, ChoiceQuestion, NumberQuestion, Program, Value


def _no_model(*_: object) -> Capture:
    raise AssertionError("this card needs no model")


def _card(name: str, seed: int = 0, capture: CaptureText = _no_model, **values: Value) -> Card:
    recipe = LESSON.recipe(name)
    return recipe.build(CardInputs(recipe.start_values() | values, seed, capture))


def _panel(card: Card, name: str, reveal: bool = False) -> Panel:
    shown = card.reveal if reveal or not card.pictures else card.pictures
    boards = [picture for picture in shown if isinstance(picture, Board)]
    return next(panel for board in boards for panel in board.panels if panel.name == name)


def _number(card: Card, name: str) -> float:
    return float(cast(float, card.numbers[name]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_numbers_for_infinity_differ_where_a_row_is_empty(dtype: torch.dtype) -> None:
    rows = {fill: masked_with(fill, dtype) for fill in FILLS}
    assert 0 < float(rows["ten"][0, 2:].sum()) < 1e-3
    for fill in FILLS[1:]:
        assert (rows[fill][0, 2:] == 0).all()
    assert rows["infinity"][1].isnan().all()
    assert torch.allclose(rows["lowest"][1].float(), torch.full((4,), 0.25))
    assert bool(rows["billion"][1].isnan().all()) is (dtype == torch.float16)
    unmasked = torch.softmax(torch.tensor([2.0, 1.0, 3.0, 0.5], dtype=dtype), 0)
    in_thousands = torch.allclose(rows["thousands"][1].float(), unmasked.float(), atol=1e-3)
    assert in_thousands is (dtype == torch.float32)


def test_half_precision_has_no_number_for_minus_a_billion() -> None:
    blocked = torch.ones(1, dtype=torch.bool)
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.zeros(1, dtype=torch.float16).masked_fill(blocked, -1e9)
    assert torch.tensor([-1e9]).half().isinf().all()
    assert _number(_card("infinity"), "largest") == 65504


@pytest.mark.parametrize("seed", range(3))
def test_subtracting_the_maximum_saves_the_weights(seed: int) -> None:
    card = _card("overflow", seed)
    assert np.isnan(_panel(card, "naive", reveal=True).values).all()
    assert np.isinf(_panel(card, "exponents", reveal=True).values).all()
    weight = 1 / (1 + math.exp(-_number(card, "gap")))
    assert isinstance(card.question, NumberQuestion)
    assert card.question.answer == pytest.approx(weight)
    assert (_panel(card, "small", reveal=True).values <= 1).all()
    assert _number(card, "half") == pytest.approx(11.09, abs=0.01)


def test_the_fates_are_what_the_interfaces_gave_now() -> None:
    card, found = _card("fates"), {row.implementation: row.verdict for row in blocked_rows()}
    assert isinstance(card.question, ChoiceQuestion)
    assert card.question.right == found["sdpa"] == "zero"
    assert found["multihead_weights"] == found["multihead_fast"] == "nan"
    assert found["transformers"] == "uniform"
    assert card.numbers["kinds"] == 3 and isinstance(card.reveal[0], Board)
    assert [panel.name for panel in card.reveal[0].panels] == list(IMPLEMENTATIONS)


@pytest.mark.parametrize("seed", range(3))
def test_true_drops_in_multihead_attention(seed: int) -> None:
    card = _card("polarity", seed)
    assert isinstance(card.question, ChoiceQuestion) and card.question.right == "upper"
    upper = torch.ones(N, N).triu(1).bool()
    weights = multihead_weights(upper, seed)
    assert (weights[upper.numpy()] == 0).all() and np.allclose(weights.sum(axis=1), 1)
    wrong = multihead_weights(~upper, seed)
    assert np.isnan(wrong[-1]).all() and (wrong[0, 1:] > 0).all()


@pytest.mark.parametrize("kind", ["causal", "padding", "both"])
@pytest.mark.parametrize("interface", CONVENTIONS)
def test_the_code_makes_the_mask_of_the_picture(kind: str, interface: str) -> None:
    card = _card("translate", mask=kind, interface=interface)
    source = card.reveal[1]
    assert isinstance(source, Program)
    names: dict[str, object] = {}
    exec(source.source, names)
    may_attend, mask = _panel(card, "may").values == 1, cast(torch.Tensor, names["mask"])
    made = {
        "sdpa": lambda: mask.numpy(),
        "multihead": lambda: ~mask.numpy(),
        "additive": lambda: mask.numpy() == 0,
        # transformers gets the real tokens alone; a decoder adds the triangle
        "transformers": lambda: (
            np.tril(np.ones((N, N)), 0 if kind != "padding" else N) * mask.numpy()[0][None, :] == 1
        ),
    }[interface]()
    assert np.array_equal(made, may_attend)
    if kind == "both":
        assert card.numbers["both"] == card.numbers["open"] == may_attend.sum() == 9
