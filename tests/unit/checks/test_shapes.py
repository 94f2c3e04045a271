"""The shipped `shapes`: its card's claims measured again, and drawings of a kind it never saw."""

from dataclasses import astuple

import numpy as np
import pytest

from attnviz.capture.run import capture
from attnviz.checks import card, shapes
from attnviz.checks.cards import Figure
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load
from attnviz.worlds.forms import FORMS, PALETTE
from attnviz.worlds.shapes import LABELS, PATCH_PX, SIDE_PX, sample
from tests.support.drawings import add, drawing


@pytest.fixture(scope="module")
def lm() -> LoadedModel:
    return load("shapes")


@pytest.fixture(scope="module")
def figures(lm: LoadedModel) -> tuple[Figure, ...]:
    return shapes.check(lm)


def test_a_part_of_the_cases_reaches_the_targets(
    lm: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shapes, "CASES", shapes.CASES[:80])
    monkeypatch.setattr(shapes, "N_CAPTURED", 40)
    figures = shapes.check(lm)
    assert len(figures) == 5
    assert {figure.name for figure in figures if not figure.reached} == set()


@pytest.mark.slow
def test_every_figure_reaches_its_target(figures: tuple[Figure, ...]) -> None:
    assert {figure.name for figure in figures if not figure.reached} == set()
    assert all(figure.cases >= 200 for figure in figures) and figures[0].cases >= 1000


@pytest.mark.slow
def test_the_card_tells_what_is_measured(figures: tuple[Figure, ...]) -> None:
    told = card("shapes")
    assert told is not None
    for ours, theirs in zip(figures, told.figures, strict=True):
        assert ours.value == pytest.approx(theirs.value, abs=0.005)
        assert astuple(ours)[2:] == astuple(theirs)[2:] and ours.name == theirs.name


def test_the_labels_and_the_grid_are_those_of_the_world(lm: LoadedModel) -> None:
    named = lm.model.config.id2label
    assert tuple(named[number] for number in range(len(LABELS))) == LABELS
    cap = capture(lm, image=sample(1).picture(200))
    assert cap.grid == (SIDE_PX // PATCH_PX, SIDE_PX // PATCH_PX)
    cap.verify().require()


def test_attention_without_preference_counts_as_one() -> None:
    """The measure itself: weights that are all equal give the area; all on one patch, its cover."""
    scene = sample(2)
    flat = np.full((3, 5, 37, 37), 1 / 37, np.float32)
    assert shapes.mass_on(scene, flat) == pytest.approx(np.full((3, 5), scene.cover().mean()))
    fullest = int(scene.cover().argmax())
    one = np.zeros((37, 37), np.float32)
    one[0, 1 + fullest] = 0.5
    one[0, 0] = 0.5
    assert shapes.mass_on(scene, one) == pytest.approx(scene.cover().max())


def test_a_habit_alone_counts_as_one() -> None:
    """The second baseline: weights that are the same on every picture see no thing of its own."""
    scenes, habit = [sample(seed) for seed in range(7)], np.zeros((37, 37), np.float32)
    habit[0, 1:] = np.random.default_rng(3).random(36)
    own, elsewhere = shapes.mass_on_things(scenes, [habit] * len(scenes))
    assert own == pytest.approx(elsewhere)
    seeing = [np.zeros((37, 37), np.float32) for _ in scenes]
    for scene, weights in zip(scenes, seeing, strict=True):
        weights[0, 1 + int(scene.cover().argmax())] = 1.0
    own, elsewhere = shapes.mass_on_things(scenes, seeing)
    assert own > 2 * elsewhere


def answer(lm: LoadedModel, image: object) -> str:
    logits = capture(lm, image=image).logits
    assert logits is not None
    return str(lm.model.config.id2label[int(logits[0].argmax())])


@pytest.mark.parametrize("n_colours", [2, pytest.param(6, marks=pytest.mark.slow)])
def test_drawings_of_a_visitor_are_named_right(lm: LoadedModel, n_colours: int) -> None:
    """All forms in several colours, filled and as a line, two places and sizes, on white."""
    wrong, n = [], 0
    for number, form in enumerate(FORMS):
        for colour, paint in [*PALETTE.items(), *PALETTE.items()][number : number + n_colours]:
            for filled, centre, half in ((True, (100, 100), 70), (False, (84, 110), 60)):
                n += 1
                image = drawing(form, paint, filled=filled, centre=centre, half=half, brush=16)
                found = answer(lm, image)
                if found != f"{colour} {form}":
                    wrong.append(f"{colour} {form}, filled={filled}: {found}")
    assert len(wrong) <= 0.06 * n, wrong


def test_a_smaller_thing_beside_it_changes_nothing(lm: LoadedModel) -> None:
    """The largest is named wherever the others stand."""
    wrong, names = [], list(PALETTE)
    for number, form in enumerate(FORMS):
        colour, other, beside = names[number], names[(number + 2) % 6], FORMS[(number + 1) % 6]
        for centre, corner in (((115, 115), (32, 32)), ((85, 85), (168, 168))):
            paint = PALETTE[colour]
            image = drawing(form, paint, filled=True, centre=centre, half=58, brush=16)
            add(image, beside, PALETTE[other], filled=True, centre=corner, half=22, brush=8)
            if (found := answer(lm, image)) != f"{colour} {form}":
                wrong.append(f"{colour} {form} at {centre}: {found}")
    assert len(wrong) <= 1, wrong
