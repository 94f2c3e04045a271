"""Lessons 9 and 10: what they say of real heads holds, and so do the controls."""

import numpy as np
import pytest

from attnviz.attention.steps import derive
from attnviz.changes.make import cut
from attnviz.pictures.board import Board
from attnviz.pictures.motion import Motion
from attnviz.teach.course import lesson
from attnviz.teach.course.claims import negation_cuts, word_effects
from attnviz.teach.course.real import INDUCTION, OTHERS
from attnviz.teach.course.recipe import CaptureText, CardInputs
from attnviz.teach.lessons.cards.card import Card
from tests.support.course import captured


@pytest.fixture(scope="module")
def run() -> CaptureText:
    return captured


def built(run: CaptureText, name: str, seed: int = 0, **values: float | str) -> Card:
    recipes = (*lesson("real").recipes, *lesson("claims").recipes)
    recipe = next(recipe for recipe in recipes if recipe.name == name)
    return recipe.build(CardInputs(recipe.start_values() | values, seed, run))


def number(card: Card, name: str) -> float:
    return float(card.numbers[name])


def test_chance_counts_the_open_keys(run: CaptureText) -> None:
    assert built(run, "chance").question.answer == pytest.approx(1 / 6)  # type: ignore[union-attr]
    # the mean over rows 1 to 8 of 1 / (row + 1)
    by_hand = np.mean([1 / (row + 1) for row in range(1, 9)])
    assert number(built(run, "chance"), "mean") == pytest.approx(by_hand, abs=1e-6)


def test_the_previous_token_head_goes_by_position(run: CaptureText) -> None:
    card = built(run, "previous")
    assert min(number(card, "score"), number(card, "mixed"), number(card, "other")) > 0.6
    assert number(card, "chance") < 0.25


def test_the_gallery_names_three_habits(run: CaptureText) -> None:
    card = built(run, "gallery")
    assert all(number(card, name) > 0.7 for name in ("first", "previous", "next"))
    assert number(card, "chance") == pytest.approx(1 / 9, abs=1e-6)


def test_this_encoder_rests_on_cls_and_not_on_sep(run: CaptureText) -> None:
    card = built(run, "rest")
    assert min(number(card, "score"), number(card, "mixed")) > 0.85
    assert number(card, "separator") < 0.25


def test_without_a_second_dog_the_head_rests(run: CaptureText) -> None:
    card = built(run, "same")
    assert number(card, "weight") > 0.6 and number(card, "rest") > 0.8


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_asked_cell_is_the_largest_of_its_row(run: CaptureText, seed: int) -> None:
    card = built(run, "induction", seed)
    (board,) = card.pictures
    assert isinstance(board, Board)
    ((row, column),) = card.question.right  # type: ignore[union-attr,misc]
    assert int(board.panels[0].values[row].argmax()) == column


@pytest.mark.parametrize("model", list(INDUCTION))
def test_the_same_cells_without_a_copy_get_little(run: CaptureText, model: str) -> None:
    card = built(run, "copied", model=model)
    assert number(card, "score") > 0.7
    assert number(card, "control") < number(card, "score") / 2


def test_control_words_are_one_token_each() -> None:
    for name in INDUCTION:
        cap = captured(name, " ".join(("Once", *OTHERS)))
        assert len(cap.tokens) == 2 + len(OTHERS)


def test_too_few_words_are_replaced(run: CaptureText) -> None:
    assert built(run, "copied", words="same same").numbers["words"] == "kite hat dog cat"
    assert "not" in built(run, "review", text="").numbers["strong"]  # type: ignore[operator]


def test_without_a_repeat_the_induction_head_rests(run: CaptureText) -> None:
    card = built(run, "quiet")
    assert number(card, "first") > 4 * number(card, "chance") > 0.7
    (film,) = (one for one in card.reveal if isinstance(one, Motion))
    asked, found = film.arrays["asked"][0]
    assert film.labels["letters"][int(asked)] == card.numbers["token"] == "river"
    assert found == 0 and number(card, "weight") > 0.9


def test_one_sentence_overstates(run: CaptureText) -> None:
    card = built(run, "one")
    assert card.numbers["behind"] == 1
    assert number(card, "mean") < number(card, "score") / 2
    assert number(card, "least") < number(card, "chance")


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_heaviest_token_does_not_write_most(run: CaptureText, seed: int) -> None:
    card = built(run, "effect", seed)
    (board,) = card.pictures
    assert isinstance(board, Board)
    weights, reach, written = (panel.values for panel in board.panels)
    np.testing.assert_allclose(weights * reach, written)
    assert weights.argmax() != written.argmax() and weights.max() > 0.8
    # ‖f(x)‖ from the model's own matrices
    steps = derive(run("minilm", "The cat sat on the mat.").call(4), 5)
    np.testing.assert_allclose((steps.v @ steps.w_o).norm(dim=1), reach[0], rtol=1e-5)  # type: ignore[operator]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_negator_matters_more_than_the_heaviest_word(run: CaptureText, seed: int) -> None:
    card = built(run, "explains", seed)
    assert card.numbers["strong"] in ("not", "never")
    assert abs(number(card, "strong_change")) > 8 * abs(number(card, "heavy_change"))
    assert number(card, "strong_weight") < 0.1 < 0.5 < number(card, "heavy_weight")
    assert number(card, "margin") > 0 > number(card, "after")


@pytest.mark.parametrize("seed", [0, 1])
def test_backup_turns_the_verdict_only_with_the_cell_cut_in_several_heads(
    run: CaptureText, seed: int
) -> None:
    """One cut cell hardly moves it, all four turn it; the same cuts in another row do nothing."""
    card = built(run, "backup", seed)
    before = number(card, "before")
    assert before > 8 and number(card, "weight") > 0.75
    assert number(card, "one") > 0.9 * before and number(card, "off") > 0.9 * before
    assert number(card, "two") < 0 > number(card, "all")
    assert number(card, "control") == pytest.approx(before, abs=0.05)
    assert number(card, "other_one") < 0 < number(card, "other_before")


def test_negation_cuts_blocks_one_cell_and_no_other(run: CaptureText) -> None:
    """The verdict with a cell cut is that of a run in which a hand-made mask blocks it."""
    text = "the hotel was not bad at all ."
    own = negation_cuts(CardInputs({}, 0, run), text)
    assert (own.negator, own.judging, own.bystander) == ("not", "bad", "was")
    kept = run("sentiment", text, changes=(cut("L0.H1", 5, 4),)).weights(0, 1)
    free = run("sentiment", text).weights(0, 1)
    assert kept[5, 4] == 0
    np.testing.assert_allclose(
        kept[5], np.where(np.arange(10) == 4, 0, free[5]) / (1 - free[5, 4]), rtol=1e-4
    )
    np.testing.assert_array_equal(np.delete(kept, 5, 0), np.delete(free, 5, 0))


def test_leaving_a_word_out_really_runs_without_it(run: CaptureText) -> None:
    words = ("the", "hotel", "was", "not", "bad", ".")
    of = word_effects(CardInputs({}, 0, run), words)
    logits = run("sentiment", "the hotel was bad .").logits
    assert logits is not None
    margin = float(logits[0, 1] - logits[0, 0])
    assert of.margin - of.changes[3] == pytest.approx(margin, abs=1e-3)


def test_agreement_is_held_against_shuffles(run: CaptureText) -> None:
    card = built(run, "review")
    assert -1 <= number(card, "agreement") <= 1
    assert 0 < number(card, "percent") < 100
