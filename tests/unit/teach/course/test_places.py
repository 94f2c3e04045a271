"""Lesson 7: three places, two masks, and the row that predicts a word, on the translator."""

import numpy as np
import pytest

from attnviz.pictures.board import Board
from attnviz.teach.course.places import PAIRS
from attnviz.teach.lessons.cards.card import CellQuestion, ChoiceQuestion, NumberQuestion
from attnviz.teach.lessons.cards.grade import grade
from tests.support.course import captured, card, panel


def test_the_pairs_are_what_the_model_writes() -> None:
    for pair in PAIRS:
        written = captured("translator", pair.english, generate=32)
        whole = captured("translator", pair.english, target=pair.french)
        read = written.tokens_of(0, "decoder").labels
        assert whole.tokens_of(0, "decoder").labels[: len(read)] == read


def test_cross_attention_has_a_row_for_each_french_token_and_a_column_for_each_english() -> None:
    keys = card("places", "keys")
    assert isinstance(keys.question, NumberQuestion)
    assert keys.question.answer == 10
    assert (keys.numbers["rows"], keys.numbers["own"]) == (12, 12)
    assert panel(keys, "weights").values.shape == (11, 10)
    assert grade(keys.question, 4).mistake == "own"
    assert grade(keys.question, 14).mistake == "both"


def test_three_places_have_the_tokens_of_their_texts() -> None:
    question = card("places", "three").question
    assert isinstance(question, ChoiceQuestion)
    of = {name: board.panels[0] for name, board in question.pictures.items()}
    assert "cars" in of["encoder"].rows and "cars" in of["encoder"].columns
    assert "voitures" in of["decoder"].rows and "voitures" in of["decoder"].columns
    assert "voitures" in of["cross"].rows and "cars" in of["cross"].columns
    assert np.triu(of["decoder"].values, 1).max() == 0.0 < np.triu(of["encoder"].values, 1).max()


def test_with_its_mask_one_pass_equals_writing_word_by_word_and_without_does_not() -> None:
    for seed in range(len(PAIRS)):
        numbers = card("places", "once", seed).numbers
        assert numbers["difference"] < 5e-6  # type: ignore[operator]
        assert numbers["without"] > 0.3  # type: ignore[operator]


def test_cross_attention_has_no_future_mask_but_the_source_s_padding_mask() -> None:
    whose = card("places", "whose_mask")
    assert (whose.numbers["decoder_mask"], whose.numbers["cross_mask"]) == ("causal", "none")
    padded = panel(whose, "padded")
    assert padded.blocked is not None
    assert padded.blocked[:, -2:].all() and not padded.blocked[:, :-2].any()
    assert padded.values[:, -2:].max() == whose.numbers["on_padding"] == 0.0
    assert padded.values.sum(axis=1) == pytest.approx(np.ones(len(padded.values)), abs=1e-5)


def test_an_adjective_that_moved_is_found_at_its_english_place() -> None:
    align = card("places", "align")
    assert isinstance(align.question, CellQuestion)
    weights = panel(align, "weights")
    ((row, column),) = align.question.right
    assert (weights.rows[row], weights.columns[column]) == ("blanc", "white")
    assert align.numbers["weight"] > 0.9 > 10 * align.numbers["before_weight"]  # type: ignore[operator]
    cat = weights.columns.index("cat")
    assert grade(align.question, (row, cat)).mistake == "neighbour"
    assert grade(align.question, (row - 1, cat)).mistake == "row"


def test_the_row_that_predicts_aligns_and_the_row_that_has_read_does_not() -> None:
    right = card("places", "rows", reading="predicts", head="l1h1").numbers
    late = card("places", "rows", reading="read", head="l1h1").numbers
    other = card("places", "rows", reading="predicts", head="l0h1").numbers
    assert right["right"] == right["control_right"] == right["links"] == 13
    assert late["right"] == 0
    assert other["right"] < 6  # type: ignore[operator]
    assert late["by_chance"] == pytest.approx(1.6, abs=0.1)


def test_step_by_step_the_strongest_word_jumps_back() -> None:
    found = [card("places", "steps", step=float(step)).numbers for step in (1, 3, 4)]
    assert [(of["word"], of["source"]) for of in found] == [
        ("Le", "The"),
        ("chat", "cat"),
        ("blanc", "white"),
    ]
    assert found[2]["read"] == "<pad> Le petit chat"


def test_a_sentence_of_one_s_own_is_translated() -> None:
    own = card("places", "own", text="The dog eats.")
    assert own.numbers["french"] == "Le chien mange ."
    assert panel(own, "weights").values.shape == (4, 5)
    asked = own.situation[0]
    assert isinstance(asked, Board) and asked.panels[0].values.tolist() == [[1, 0, 1, 1, 1, 1]]
    empty = card("places", "own", text="  ")
    assert empty.numbers["n_source"] == 10
