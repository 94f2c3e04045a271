"""The gallery: what is stored travels as it is, and what the browser may send back."""

import numpy as np
import pytest

from attnviz.pictures import gallery
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed


def test_gallery_reads_what_as_text_wrote() -> None:
    view = gallery.gallery()
    assert gallery.as_text(view) == gallery.PLACE.read_text(encoding="utf-8")
    assert view.picture.pixels.dtype == np.uint8 and view.birth.weights.dtype == np.float32
    assert view.translator.source[1] == "little" and view.birth.steps[-1] == 200


def test_the_stored_miniatures_travel_whole() -> None:
    header, arrays = unpack(packed(gallery.CANVAS, gallery.gallery(), "en"))
    assert all(header[name] is not None for name in gallery.MINIATURES)
    n_steps, size = len(header["birth"]["steps"]), len(header["birth"]["letters"])
    assert arrays["birth.weights"].shape == (n_steps, size, size)


@pytest.mark.parametrize("value", [None, "", "output", ["story"], {"name": "story"}, 3])
def test_parse_opened_takes_the_names_of_miniatures_alone(value: object) -> None:
    assert gallery.parse_opened("story") == "story"
    assert gallery.parse_opened(value) is None
