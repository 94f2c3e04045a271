"""The moving pictures of cards: what travels, and that something moves in each scene."""

import re

import numpy as np
import pytest

from attnviz.pictures import motion
from attnviz.pictures.motion import FILMS, SCENES, FilmName, Motion, MotionView
from attnviz.pictures.shared import bundle
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed

WEIGHTS = np.array([[0.25, 0.75]])
HOSTILE = "</script><img src=x onerror=alert(1)>"
VIEW = MotionView(
    Motion("blend", {"weights": WEIGHTS, "values": np.eye(2)}, scenes=("weights", "sum")),
    label="The output is a weighted average",
    captions={"weights": "The weights.", "sum": HOSTILE},
    labels={"keys": ("the", HOSTILE), "query": ("cat",)},
)
FOLDER = bundle.FOLDER / "motion"


def test_pack_motion_sends_the_numbers_and_only_the_scenes_that_are_played() -> None:
    header, arrays = unpack(packed(motion.CANVAS, VIEW, "en"))
    assert arrays["weights"] == pytest.approx(WEIGHTS)
    assert [scene["name"] for scene in header["scenes"]] == ["weights", "sum"]
    assert header["scenes"][0]["ms"] == SCENES["blend"]["weights"]


def test_motion_plays_all_scenes_of_its_film_unless_some_are_named() -> None:
    film = Motion("cut", {}, named={"keys": ("series.key0",)})
    assert film.played == tuple(SCENES["cut"])
    assert film.texts == ("scene.whole", "scene.cut", "scene.line", "scene.cls", "series.key0")


def unpainted(film: FilmName, source: str) -> set[str]:
    """The scenes after the first in which the film's module moves nothing."""
    named = set(re.findall(r'(?:so|linear)\("(\w+)"', source))
    return set(list(SCENES[film])[1:]) - named - {"done"}  # what is written stays for a while


@pytest.mark.parametrize("film", FILMS)
def test_each_film_moves_something_in_each_of_its_scenes(film: FilmName) -> None:
    assert unpainted(film, (FOLDER / f"{film}.js").read_text(encoding="utf-8")) == set()


def test_a_scene_in_which_nothing_moves_is_found() -> None:
    assert unpainted("blend", 'so("weights"); so("sum", 0, 1)') == {"products"}
