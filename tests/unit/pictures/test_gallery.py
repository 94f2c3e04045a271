"""The wrapper of the gallery: what travels, and what the browser may send back."""

import numpy as np
import pytest

from attnviz.pictures import gallery
from attnviz.pictures.gallery import Birth, GalleryView, Lines, PictureRead, Story
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed

WHOLE = GalleryView(
    Lines("L1.H2", ("white", "cat", "."), ("chat", "blanc"), np.full((2, 3), 0.25, np.float32)),
    PictureRead(
        "L0.H0",
        np.full((4, 6, 3), 200, np.uint8),
        np.full((2, 3), 0.125, np.float32),
        "red circle",
        0.75,
    ),
    Story(("Once", "upon", "a", "time"), 3, np.tri(4, dtype=np.float32) / 4),
    Birth(
        "L1.H0",
        ("A", "B", "A"),
        (0, 20),
        np.array([0.125, 0.5], np.float32),
        np.full((2, 3, 3), 0.25, np.float32),
        chance=0.0625,
        n_steps=40,
        is_over=False,
    ),
)


def test_pack_gallery_leaves_out_what_is_not_there() -> None:
    header, arrays = unpack(packed(gallery.CANVAS, GalleryView(story=WHOLE.story), "en"))
    assert [name for name in gallery.MINIATURES if header[name] is not None] == ["story"]
    assert list(arrays) == ["story.weights"] and (arrays["story.weights"] == np.tri(4) / 4).all()


@pytest.mark.parametrize("value", [None, "", "output", ["story"], {"name": "story"}, 3])
def test_parse_opened_takes_the_names_of_miniatures_alone(value: object) -> None:
    assert gallery.parse_opened("story") == "story"
    assert gallery.parse_opened(value) is None
