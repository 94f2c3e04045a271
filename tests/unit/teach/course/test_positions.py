"""Lesson 6: shuffled tokens, the sinusoidal table, a learned one, and rotary positions."""

import math

import numpy as np
import pytest

from attnviz.errors import ModelNotFound
from attnviz.models.loader import embedded_tensor
from attnviz.teach.course.positions import before_training, learned, rope_factors, sinusoidal
from attnviz.teach.lessons.cards.card import CellQuestion, Chart, ChoiceQuestion, NumberQuestion
from attnviz.teach.lessons.cards.grade import grade
from scripts.train.stories import waves
from tests.support.course import card, panel


def test_without_positions_attention_is_permutation_equivariant() -> None:
    shuffle = card("positions", "shuffle")
    assert shuffle.numbers["difference"] < 1e-12  # type: ignore[operator]
    assert isinstance(shuffle.question, ChoiceQuestion)
    moved = shuffle.question.pictures["move"].panels[0].values
    before = panel(shuffle, "before").values
    order = [3, 1, 2, 0, 4]
    assert moved == pytest.approx(before[order][:, order])
    assert before[0] == pytest.approx([0.0424, 0.2048, 0.3446, 0.2414, 0.1667], abs=5e-5)


def test_the_note_s_sentence_does_not_hold_under_a_causal_mask() -> None:
    assert card("positions", "broken", way="none").numbers["changed"] < 1e-12  # type: ignore[operator]
    for way in ("sinusoidal", "rotary", "causal"):
        assert card("positions", "broken", way=way).numbers["changed"] > 0.01, way  # type: ignore[operator]


def test_the_table_is_the_formula_cell_by_cell() -> None:
    table = sinusoidal(7, 10)
    for pos in range(7):
        for pair in range(5):
            angle = pos / 10000 ** (2 * pair / 10)
            assert table[pos, 2 * pair] == pytest.approx(math.sin(angle))
            assert table[pos, 2 * pair + 1] == pytest.approx(math.cos(angle))
    question = card("positions", "table").question
    assert isinstance(question, NumberQuestion)
    assert question.answer == pytest.approx(math.cos(2))
    assert grade(question, round(math.sin(2), 2)).mistake == "sine"
    assert grade(question, round(math.cos(math.radians(2)), 2)).mistake == "degrees"


def test_the_last_pair_is_the_slowest() -> None:
    waves = card("positions", "waves")
    table = panel(waves, "table").values
    moves = np.abs(np.diff(table, axis=0)).max(axis=0)
    assert isinstance(waves.question, CellQuestion)
    slowest = {column for _, column in waves.question.right}
    assert max(moves[list(slowest)]) < min(moves[: min(slowest)])
    assert waves.numbers["first_period"] == pytest.approx(2 * math.pi)


def test_products_of_the_table_s_rows_depend_on_the_distance_only() -> None:
    offsets = card("positions", "offsets")
    products = panel(offsets, "products").values
    assert isinstance(offsets.question, CellQuestion)
    asked = products[1, 3]
    same = {(r, c) for r in range(6) for c in range(6) if abs(products[r, c] - asked) < 1e-9}
    assert offsets.question.right == same - {(1, 3)}
    assert offsets.numbers["spread"] < 1e-12 < 1 < offsets.numbers["random_spread"]  # type: ignore[operator]


def test_the_learned_table_began_as_waves() -> None:
    """Neighbours: 0.693 before training, 0.743 after it; the pair of the card fell."""
    assert learned().shape == (256, 144)
    np.testing.assert_allclose(before_training(), waves(256, 144).numpy(), atol=2e-4)
    numbers = card("positions", "learned").numbers
    assert numbers["mean_before"] == pytest.approx(0.693, abs=0.001)
    assert numbers["mean_after"] == pytest.approx(0.743, abs=0.001)
    assert numbers["pair_before"] == pytest.approx(0.693, abs=0.001)
    assert numbers["pair_after"] == pytest.approx(0.682, abs=0.001)
    assert abs(numbers["random"]) < 0.02  # type: ignore[arg-type]


def test_a_tensor_that_is_not_there_is_named() -> None:
    with pytest.raises(ModelNotFound, match="wpe"):
        embedded_tensor("stories", "wpe")
    with pytest.raises(ModelNotFound, match="mha-55"):
        embedded_tensor("mha-55", "in_proj_weight")


def test_turned_arrows_meet_at_the_angle_between_their_positions() -> None:
    for seed in (0, 1, 2):
        turn = card("positions", "turn", seed)
        assert isinstance(turn.question, NumberQuestion)
        between = math.radians(turn.numbers["between"])  # type: ignore[arg-type]
        assert turn.question.answer == pytest.approx(math.cos(between), abs=1e-6)
        assert turn.numbers["later"] == pytest.approx(turn.question.answer, abs=1e-5)
    assert grade(card("positions", "turn").question, -0.5).mistake == "sum"  # type: ignore[arg-type]


def test_the_turned_score_keeps_its_value_and_the_added_one_does_not() -> None:
    distance = card("positions", "distance")
    chart = distance.reveal[0]
    assert isinstance(chart, Chart)
    turned, added = chart.series
    assert np.ptp(turned.y) < 1e-4 < 1 < np.ptp(added.y)
    moved = card("positions", "distance", shift=100.0).numbers
    assert moved["turned"] == pytest.approx(distance.numbers["turned_start"], abs=1e-4)


def test_the_model_s_own_angles_are_those_of_the_formula() -> None:
    assert card("positions", "distance").numbers["recovered"] < 1e-5  # type: ignore[operator]
    factors = rope_factors(np.array([0.0, 1.0]), 4, base=100.0)
    assert np.angle(factors[1]) == pytest.approx([1.0, 0.1], abs=1e-6)


def test_order_changes_a_sentence_s_vector_less_than_other_words_do() -> None:
    swapped = card("positions", "order", way="swapped").numbers
    assert swapped["changed"] == "The man bites the dog."
    assert swapped["cosine"] == pytest.approx(0.973, abs=0.002)
    assert swapped["unrelated"] < 0.1 < swapped["cosine"] < 0.999  # type: ignore[operator]
    assert card("positions", "order", way="same").numbers["cosine"] == pytest.approx(1.0)
    assert card("positions", "order", text="Hi", way="reversed").numbers["changed"] == "Hi"
