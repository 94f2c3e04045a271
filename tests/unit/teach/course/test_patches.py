"""Lesson 8: the course texts' sizes and formulas hold, and so do the real model's numbers."""

import numpy as np
import pytest
import torch

from attnviz.capture.run import capture
from attnviz.checks.shapes import CASES, mass_on
from attnviz.models.loader import load
from attnviz.pictures.board import Board, Panel
from attnviz.teach.course.patches import LESSON
from attnviz.teach.course.recipe import CaptureText, CardInputs
from attnviz.teach.lessons.cards.card import Card, Chart, NumberQuestion
from attnviz.worlds.shapes import sample
from tests.support.course import captured


@pytest.fixture(scope="module")
def run() -> CaptureText:
    return captured


def built(run: CaptureText, name: str, seed: int = 0, **values: float | str) -> Card:
    recipe = LESSON.recipe(name)
    return recipe.build(CardInputs(recipe.start_values() | values, seed, run))


def panels(board: object) -> dict[str, Panel]:
    assert isinstance(board, Board)
    return {panel.name: panel for panel in board.panels}


def test_tokens_are_patches_and_cls(run: CaptureText) -> None:
    card = built(run, "cut")
    cap = run("shapes", image=sample(4).picture())
    assert isinstance(card.question, NumberQuestion)
    assert card.question.answer == cap.call(0).n_query == (48 // 8) ** 2 + 1
    assert built(run, "cut", seed=1).question.answer == 197  # type: ignore[union-attr]


def test_one_product_makes_q_k_and_v(run: CaptureText) -> None:
    of = panels(built(run, "joint").pictures[0])
    z, joint, qkv = (of[name].values for name in ("z", "u_qkv", "qkv"))
    assert joint.shape == (z.shape[1], 3 * 3)
    apart = [z @ w for w in np.split(joint, 3, axis=1)]
    np.testing.assert_allclose(np.concatenate(apart, axis=1), qkv)


def test_without_the_transpose_the_product_fails(run: CaptureText) -> None:
    plain, features = (built(run, "transpose", way=way) for way in ("plain", "features"))
    assert plain.numbers["said"] == ("mat1 and mat2 shapes cannot be multiplied (4x3 and 4x3)"), (
        "what torch says"
    )
    assert "product" not in panels(plain.reveal[1])
    assert panels(plain.reveal[0])["scores"].values.shape == (4, 4)
    assert features.numbers["said"] == "3×3", "runs, but has no patches on its axes"
    swapped = panels(built(run, "transpose", way="swapped").reveal[1])["product"].values
    np.testing.assert_allclose(swapped, panels(plain.reveal[0])["scores"].values.T)


def test_half_the_patch_has_nearly_16_times_the_weights(run: CaptureText) -> None:
    assert built(run, "square").numbers["times"] == pytest.approx((145 / 37) ** 2)


def test_the_grid_is_the_row_of_cls_without_cls(run: CaptureText) -> None:
    card = built(run, "column")
    grid = panels(card.pictures[0])["grid"].values
    weights = run("shapes", image=sample(5).picture()).weights(3, 1)
    (cell,) = card.question.right  # type: ignore[union-attr,misc]
    assert grid[cell] == pytest.approx(float(weights[0, 17]))
    assert grid.sum() == pytest.approx(1 - float(weights[0, 0]), abs=1e-6)


def test_weight_on_the_thing_stands_beside_its_area(run: CaptureText) -> None:
    card = built(run, "baseline")
    assert card.question.answer == pytest.approx(100 * sample(4).cover().mean())  # type: ignore[union-attr]
    assert float(card.numbers["mass"]) > 2 * float(card.numbers["area"])


def test_places_alone_explain_part_of_it(run: CaptureText) -> None:
    numbers = built(run, "elsewhere").numbers
    own, control, area = (float(numbers[name]) for name in ("own", "control", "area"))
    assert area * 1.5 < control < own / 1.3


@pytest.mark.slow
def test_the_harder_baseline_on_two_hundred_pictures() -> None:
    """On the card's 200 pictures: 48 % on the thing, 28 % on other pictures' things, area 16 %."""
    lm, scenes = load("shapes"), [sample(seed) for seed in CASES[:200]]
    cap = capture(lm, image=[scene.picture() for scene in scenes])
    weights = [cap.weights(3, 1, batch=row) for row in range(200)]
    own = np.mean([mass_on(scene, of) for scene, of in zip(scenes, weights, strict=True)])
    others = [*scenes[1:], scenes[0]]
    control = np.mean([mass_on(scene, of) for scene, of in zip(others, weights, strict=True)])
    assert (round(float(own), 2), round(float(control), 2)) == (0.48, 0.28)


def test_several_pictures_are_one_batch() -> None:
    lm, pictures = load("shapes"), [sample(seed).picture() for seed in (0, 1, 2)]
    together = capture(lm, image=pictures)
    assert together.n_batch == 3
    for row, picture in enumerate(pictures):
        alone = capture(lm, image=picture)
        torch.testing.assert_close(
            together.call(3).weights(1, batch=row), alone.call(3).weights(1), atol=1e-5, rtol=0
        )


def test_the_chart_has_a_control_beside_each_bar(run: CaptureText) -> None:
    card = built(run, "many", layer=2.0, head=0.0)
    (chart,) = card.reveal
    both, area, heads = (int(card.numbers[name]) for name in ("above_both", "above_area", "heads"))
    assert 0 < both < area <= heads
    assert isinstance(chart, Chart)
    assert [line.name for line in chart.series] == ["own", "control", "area"]
    assert len({len(line.x) for line in chart.series}) == 1
