"""Lesson 5: the printed numbers of nn.MultiheadAttention from seed 55, and what heads are not."""

import contextlib
import io

import numpy as np
import pytest
import torch
from torch import nn

from attnviz.checks.mha_55 import FIRST_ROW, OUTPUT, WEIGHTS
from attnviz.pictures.board import Board
from attnviz.teach.lessons.cards.card import (
    CellQuestion,
    Chart,
    ChoiceQuestion,
    NumberQuestion,
    Program,
)
from attnviz.teach.lessons.cards.grade import grade
from tests.support.course import card, panel

HALF_A_DIGIT = 5e-5


def test_the_paper_s_way_gives_the_printed_weights_of_both_heads() -> None:
    average = card("heads", "average")
    for number in (0, 1):
        found = panel(average, f"head{number}").values
        assert np.abs(found - np.array(WEIGHTS[number])).max() <= HALF_A_DIGIT
    control = panel(card("heads", "cut"), "control").values
    assert np.abs(control - np.array(WEIGHTS[0])).max() <= HALF_A_DIGIT


def test_one_product_gives_the_printed_row_and_its_slices() -> None:
    packed = card("heads", "packed")
    row = panel(packed, "qkv").values[:1]
    assert panel(packed, "packed").values.shape == (4, 12)
    assert np.abs(row - np.array(FIRST_ROW)).max() <= HALF_A_DIGIT
    slices = panel(packed, "slices")
    assert slices.columns == tuple("Q0 Q0 Q1 Q1 K0 K0 K1 K1 V0 V0 V1 V1".split())
    assert isinstance(packed.question, CellQuestion)
    assert {column for _, column in packed.question.right} == {6, 7}
    assert grade(packed.question, (0, 4)).mistake == "head"
    assert grade(packed.question, (0, 9)).mistake == "by_head"


def test_the_shares_of_the_heads_add_up_to_the_printed_output() -> None:
    shares = card("heads", "sum")
    total = panel(shares, "share0").values + panel(shares, "share1").values
    assert np.abs(total - np.array(OUTPUT)).max() <= HALF_A_DIGIT
    assert shares.numbers["difference"] <= 2.4e-7  # type: ignore[operator]


def test_both_ways_agree_and_a_wrong_cut_does_not() -> None:
    right = card("heads", "cut", way="slices").numbers
    assert right["torch"] <= 2.4e-7  # type: ignore[operator]
    assert right["torch_output"] <= 2.4e-7  # type: ignore[operator]
    for way, difference in (("every_other", 0.0867), ("reshape", 0.3083)):
        wrong = card("heads", "cut", way=way)
        assert wrong.numbers["difference"] == pytest.approx(difference, abs=HALF_A_DIGIT)
        rows = panel(wrong, "changed").values.sum(axis=1)
        assert np.allclose(rows, 1.0)  # the shape of the mistake: every row still sums to 1


def test_the_program_to_copy_runs_and_prints_no_difference() -> None:
    program = next(of for of in card("heads", "cut").reveal if isinstance(of, Program))
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()), torch.random.fork_rng(devices=[]):
        exec(program.source, names)
    assert names["weights_difference"] <= 2.4e-7  # type: ignore[operator]
    assert names["output_difference"] <= 2.4e-7  # type: ignore[operator]
    weights = torch.stack(names["weights"]).detach().numpy()  # type: ignore[arg-type]
    assert np.abs(weights - np.array(WEIGHTS)).max() <= HALF_A_DIGIT


def test_a_silent_head_takes_its_share_and_nothing_else() -> None:
    silent = card("heads", "louder", factor=0.0)
    share = panel(card("heads", "sum"), "share0").values
    assert np.abs(panel(silent, "changed").values - share).max() < 1e-6
    assert card("heads", "louder", factor=1.0).numbers["moved"] < 1e-6  # type: ignore[operator]


def test_weights_do_not_grow_with_the_number_of_heads() -> None:
    copies = card("heads", "copies")
    assert isinstance(copies.question, ChoiceQuestion)
    chart = copies.reveal[0]
    assert isinstance(chart, Chart)
    slices, copied = chart.series
    real = nn.MultiheadAttention(512, 4, bias=False)
    count = sum(parameter.numel() for parameter in real.parameters())
    assert set(slices.y * 1e6) == {count}
    assert list(copied.y / slices.y) == [1, 2, 4, 8, 16]


def test_the_mean_over_heads_is_what_torch_reports_and_belongs_to_no_head() -> None:
    average = card("heads", "average")
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(55)
        x = torch.randn(1, 5, 4)
        module = nn.MultiheadAttention(4, 2, bias=False, batch_first=True).eval()
        _, reported = module(x, x, x)
    found = panel(average, "reported").values
    assert np.abs(found - reported[0].numpy()).max() < 1e-6
    assert average.numbers["wrong_by"] == pytest.approx(0.12035, abs=HALF_A_DIGIT)


def test_one_average_of_two_values_is_neither() -> None:
    views = card("heads", "views")
    assert isinstance(views.question, NumberQuestion)
    assert views.question.answer == pytest.approx(1.0)
    assert panel(views, "apart").values.tolist() == [[5.0, -3.0]]


def test_a_head_of_the_sentence_encoder_looks_at_the_previous_token() -> None:
    looks = card("heads", "looks")
    assert looks.numbers["share"] > 0.99  # type: ignore[operator]
    assert looks.numbers["mean"] < 0.2  # type: ignore[operator]
    question = looks.question
    assert isinstance(question, ChoiceQuestion)
    panels = {name: board.panels[0].values for name, board in question.pictures.items()}
    words = slice(1, -1)
    assert np.diag(panels["previous"], -1)[words].mean() > 0.99
    assert np.diag(panels["next"], 1)[words].mean() > 0.6
    assert panels["first"][words, 0].mean() > 0.8
    own = card("heads", "looks", text="Bees make honey.")
    assert isinstance(own.question, ChoiceQuestion)
    board = own.question.pictures["previous"]
    assert isinstance(board, Board)
    assert "honey" in board.panels[0].rows
