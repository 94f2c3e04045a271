"""Masks: what they do, in numbers of torch, transformers and a real batch."""

from typing import cast

import numpy as np
import pytest
import torch

from attnviz.attention.capture import Capture
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.calculator.presets import DECODER_TOKENS
from attnviz.teach.course.masks import LESSON, scaled_scores
from attnviz.teach.course.recipe import CaptureText, CardInputs
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    ChoiceQuestion,
    Value,
)
from tests.support.course import captured


def _no_model(*_: object) -> Capture:
    raise AssertionError("this card needs no model")


@pytest.fixture(scope="module")
def run() -> CaptureText:
    return captured


def _card(name: str, seed: int = 0, capture: CaptureText = _no_model, **values: Value) -> Card:
    recipe = LESSON.recipe(name)
    return recipe.build(CardInputs(recipe.start_values() | values, seed, capture))


def _panel(card: Card, name: str, reveal: bool = False) -> Panel:
    shown = card.reveal if reveal or not card.pictures else card.pictures
    boards = [picture for picture in shown if isinstance(picture, Board)]
    return next(panel for board in boards for panel in board.panels if panel.name == name)


def _number(card: Card, name: str) -> float:
    return float(cast(float, card.numbers[name]))


def test_the_decoders_six_tokens_hide_fifteen_cells() -> None:
    card = _card("added")
    assert DECODER_TOKENS == ("Have", "you", "learned", "nothing", "?", "<eos>")
    mask, weights = (_panel(card, name, reveal=True).values for name in ("mask", "weights"))
    assert np.array_equal(np.isneginf(mask), np.triu(np.ones((6, 6)), 1) == 1)
    assert (mask[np.tril_indices(6)] == 0).all()
    assert weights[0].tolist() == [1, 0, 0, 0, 0, 0]
    expected = torch.softmax(torch.from_numpy(scaled_scores(0) + mask), dim=1)
    assert np.allclose(weights, expected.numpy())
    assert card.numbers["blocked"] == 15


@pytest.mark.parametrize("seed", range(3))
def test_rows_do_not_change_when_a_key_of_another_row_is_blocked(seed: int) -> None:
    numbers = _card("rows", seed).numbers
    assert numbers["others"] == 0 and 0.1 < float(numbers["freed"]) < 1


def test_rows_film_shares_out_as_a_softmax_without_the_key_does() -> None:
    """The film divides the other weights by 1 − the blocked one."""
    (film,) = _card("rows").reveal
    assert isinstance(film, Motion)
    weights, scaled = film.arrays["weights"], film.arrays["scaled"]
    for row, key in ((2, 0), (4, 4), (5, 1)):
        scores = torch.from_numpy(scaled[row, : row + 1].copy())
        scores[key] = -torch.inf
        shared = np.delete(weights[row, : row + 1], key) / (1 - weights[row, key])
        assert np.allclose(np.delete(torch.softmax(scores, 0).numpy(), key), shared)


@pytest.mark.parametrize("seed", range(3))
def test_right_padding_reaches_no_real_row(run: CaptureText, seed: int) -> None:
    card = _card("right", seed, run)
    assert _number(card, "difference") < 1e-12 < 0.05 < _number(card, "left")
    weights = _panel(card, "weights", reveal=True)
    is_pad = np.array([name == "[PAD]" for name in weights.rows])
    assert weights.values[~is_pad][:, is_pad].max() == 0 < np.diag(weights.values)[is_pad].min()
    assert weights.values.sum(axis=1) == pytest.approx(1)


def test_padding_draws_attention_unless_it_is_blocked(run: CaptureText) -> None:
    card = _card("padding", capture=run)
    own, lifted = _panel(card, "own", reveal=True).values, _panel(card, "lifted").values
    assert (own[:, 5:] == 0).all() and card.numbers["kept"] == 0
    assert lifted[:5, 5:].sum(axis=1).mean() == pytest.approx(_number(card, "leak"))
    assert _number(card, "leak") == pytest.approx(0.574, abs=1e-3) and _number(card, "leak") > 4 / 9
    assert 0 < _number(card, "alone") < 1e-5


def test_a_second_sentence_of_any_length_can_be_typed(run: CaptureText) -> None:
    longer = _card("padding", capture=run, second="a b c d e f g h i j k l")
    assert longer.numbers["padding"] == 5 and _panel(longer, "lifted").rows[1] == "The"
    same = _card("padding", capture=run, second="The cat sat on the rug.")
    assert same.numbers["padding"] == 0 and same.question is None
    assert _card("padding", capture=run, second=" ").numbers["padding"] == 4


def test_a_padded_decoder_needs_both_masks_and_leaves_rows_empty() -> None:
    question = _card("both").question
    assert isinstance(question, ChoiceQuestion) and question.right == "both"
    masks = {name: board.panels[0].values for name, board in question.pictures.items()}
    assert np.array_equal(masks["both"], masks["causal"] * masks["padding"])
    empty = _card("empty")
    assert isinstance(empty.question, CellQuestion)
    assert {row for row, _ in empty.question.right} == {0, 1}
    exact = _panel(empty, "exact", reveal=True).values
    finite = _panel(empty, "finite", reveal=True).values
    assert (exact[:2] == 0).all() and np.allclose(finite[:2], 1 / 5)
    assert np.allclose(exact[2:], finite[2:], atol=1e-6)
