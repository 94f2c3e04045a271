"""The world of `shapes`: pictures whose answer can be seen."""

import numpy as np
import pytest

from attnviz.worlds import forms, shapes

SCENES = [shapes.sample(seed) for seed in range(60)]


def test_a_seed_gives_the_same_picture_always() -> None:
    assert np.array_equal(shapes.sample(5).picture(), shapes.sample(5).picture())
    assert not np.array_equal(shapes.sample(5).picture(), shapes.sample(6).picture())


def test_the_first_thing_is_clearly_the_largest_of_two_to_five() -> None:
    for scene in SCENES:
        assert 2 <= len(scene.things) <= 5
        assert scene.target is scene.things[0]
        assert all(scene.target.size > 1.5 * other.size for other in scene.things[1:])


def test_things_stay_inside_and_apart() -> None:
    for scene in SCENES:
        for number, thing in enumerate(scene.things):
            left, top, right, bottom = thing.box
            assert min(left, top) >= -0.01 and max(right, bottom) <= 1.01
            for other in scene.things[:number]:
                low, high, far, deep = other.box
                assert left > far or right < low or top > deep or bottom < high


@pytest.mark.parametrize("side", [31, 48, 97])
def test_a_scene_is_painted_at_any_size(side: int) -> None:
    picture = SCENES[0].picture(side)
    assert picture.shape == (side, side, 3) and picture.dtype == np.uint8


def test_cover_is_the_area_of_the_thing_and_lies_where_its_paint_is() -> None:
    scene = next(
        scene for scene in SCENES if scene.target.form == "square" and not scene.target.line
    )
    cover = scene.cover(8)
    xs, ys = scene.target.points.T
    shoelace = abs(float(np.sum(xs * np.roll(ys, 1) - ys * np.roll(xs, 1)))) / 2
    assert cover.mean() == pytest.approx(shoelace, abs=0.012)
    assert cover.min() == 0 and cover.max() <= 1
    row, column = np.unravel_index(int(cover.argmax()), cover.shape)
    pixel = scene.picture(80)[row * 10 + 5, column * 10 + 5]
    assert np.abs(pixel.astype(int) - scene.target.paint).max() < 30


@pytest.mark.slow
def test_every_label_is_asked_for_and_numbered() -> None:
    many = [shapes.sample(seed) for seed in range(600)]
    assert {scene.label for scene in many} == set(shapes.LABELS)
    assert all(shapes.LABELS[scene.label_id] == scene.label for scene in many)
    assert len(shapes.LABELS) == len(forms.FORMS) * len(forms.COLOURS) == 36


def test_training_also_sees_a_thing_alone() -> None:
    rng = np.random.default_rng(3)
    counts = {len(shapes.scene(rng, fewest_others=0).things) for _ in range(80)}
    assert 1 in counts and max(counts) > 3


@pytest.mark.parametrize("form", forms.FORMS)
def test_a_contour_fills_its_frame(form: str) -> None:
    rng = np.random.default_rng(1)
    for drawn in (False, True):
        points = forms.contour(form, rng, drawn=drawn)
        low, high = points.min(axis=0), points.max(axis=0)
        assert np.allclose(low, -high) and (high - low).max() == pytest.approx(2)


def test_paints_stay_nearest_to_their_own_palette() -> None:
    """A paint of one colour is never taken for the palette's another by its hue."""
    import colorsys

    hue = {name: colorsys.rgb_to_hsv(*(c / 255 for c in p))[0] for name, p in forms.PALETTE.items()}
    rng = np.random.default_rng(2)
    for name in forms.COLOURS:
        for _ in range(50):
            found = colorsys.rgb_to_hsv(*(c / 255 for c in forms.paint(name, rng)))[0]
            apart = {n: min(abs(found - h), 1 - abs(found - h)) for n, h in hue.items()}
            assert min(apart, key=lambda n: apart[n]) == name
