"""The wrapper of the film: what travels, and what the browser may send back."""

import numpy as np
import pytest

from attnviz.pictures import film
from attnviz.pictures.film import FilmView, PairWeight, Reading
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed
from attnviz.pictures.shared.heads import TokenAxis
from attnviz.types import HeadId

SPECIAL = np.array([True, False, False])
ROW, OTHER_ROW = np.array([0.1, 0.7, 0.2], np.float32), np.array([0.4, 0.3, 0.3], np.float32)


def reading(word: str, row: np.ndarray, weight: float) -> Reading:
    axis = TokenAxis(("[CLS]", "it", word), SPECIAL, np.zeros(3, np.bool_))
    links = (PairWeight(weight, 0.25), PairWeight(0.125, 0.0625), PairWeight(0.5, 0.375))
    return Reading(axis, np.tile(row, (3, 1)), row, *links)


VIEW = FilmView(
    reading("tired", ROW, 0.75),
    reading("wide", OTHER_ROW, 0.5),
    weights=np.full((2, 5, 3, 3), 0.25, np.float32),
    head=HeadId(1, 3),
    query=1,
    key=0,
    rival=1,
    special_key=0,
    changed=2,
)


def test_pack_film_sends_both_rows_as_they_are() -> None:
    header, arrays = unpack(packed(film.CANVAS, VIEW, "en"))
    assert (arrays["first.row"] == ROW).all() and (arrays["second.row"] == OTHER_ROW).all()
    assert arrays["weights"].shape == (2, 5, 3, 3) and header["changed_to"] == "wide"
    assert arrays["then"].shape == (1, 1, 3, 3)
    assert (arrays["then"][0, 0, 1] / 255) ** 2 == pytest.approx(OTHER_ROW, abs=1 / 128)
