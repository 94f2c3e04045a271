"""The gallery: what is stored travels as it is, and what the browser may send back."""

import numpy as np
import pytest

import attnviz
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


def test_each_written_word_of_the_story_has_its_own_row_as_its_page_shows_it() -> None:
    """The word "cross" gives "not" 0.34; the row before it, which predicts it, has other shares."""
    story = gallery.gallery().story
    lm = attnviz.load("stories")
    given = "".join(story.tokens[1 : story.n_given]).strip()
    n_written = len(story.tokens) - story.n_given
    capture = attnviz.capture(lm, "Once upon a time there was a", generate=n_written + 1)
    own = capture.weights(capture.n_layers - 1).mean(0)
    assert "".join(given.split()) == "Onceuponatimetherewasa" and story.tokens[-1] == "cross"
    np.testing.assert_allclose(story.weights, own, atol=1e-4)
    assert np.abs(story.weights[-1] - own[-2]).max() > 0.2
    strongest = np.argsort(-story.weights[-1])[:3]
    assert [story.tokens[key] for key in strongest] == ["not", "did", "owl"]
