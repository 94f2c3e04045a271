"""The wrappers of the picture view and of the drawing pad: what travels, which texts they need."""

import numpy as np

from attnviz import i18n
from attnviz.pictures import drawing_pad, patches
from attnviz.pictures.shared.buffer import quantise, unpack
from attnviz.pictures.shared.canvas import packed
from attnviz.pictures.shared.heads import HeadsView, Patches, TokenAxis
from attnviz.worlds.forms import OUTLINES, PALETTE

LAYERS, HEADS, ROWS, COLUMNS = 2, 3, 2, 4
LABELS = ("[CLS]", *(f"r{row}c{column}" for row in range(ROWS) for column in range(COLUMNS)))
N = len(LABELS)
PICTURE = np.arange(4 * 8 * 3, dtype=np.uint8).reshape(4, 8, 3)


def view(picture: bool = True) -> HeadsView:
    scores = np.random.default_rng(8).normal(size=(LAYERS, HEADS, N, N))
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    axis = TokenAxis(LABELS, np.arange(N) == 0, np.zeros(N, dtype=np.bool_))
    sentences = tuple(tuple(f"L{i}.H{j} spreads" for j in range(HEADS)) for i in range(LAYERS))
    grid = Patches(ROWS, COLUMNS, first=1, picture=PICTURE) if picture else None
    return HeadsView("shapes", axis, axis, False, sentences, weights.astype(np.float32), grid)


def pad_view() -> drawing_pad.DrawingPadView:
    square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.00004]])
    return drawing_pad.DrawingPadView(
        side_px=384, paints={"red": (220, 45, 48)}, outlines={"square": square}
    )


def test_the_picture_travels_with_all_heads() -> None:
    header, arrays = unpack(packed(patches.CANVAS, view(), "en"))
    assert header["patches"] == {"rows": ROWS, "columns": COLUMNS, "first": 1}
    assert header["tokens"] == list(LABELS)
    np.testing.assert_array_equal(arrays["patches.picture"], PICTURE)
    np.testing.assert_array_equal(arrays["weights"], quantise(view().weights, 16))


def test_the_pad_gets_colours_and_forms() -> None:
    header, arrays = unpack(packed(drawing_pad.CANVAS, pad_view(), "en"))
    assert not arrays
    assert header["side_px"] == 384
    assert header["colours"] == [{"name": "red", "css": "rgb(220, 45, 48)"}]
    (form,) = header["forms"]
    assert form == {"name": "square", "points": [[-1, -1], [1, -1], [1, 1], [-1, 1]]}


def test_every_colour_and_form_of_the_world_has_its_word() -> None:
    for lang in i18n.LANGUAGES:
        assert {*PALETTE, *OUTLINES} <= i18n.section(lang, "component.drawing_pad").keys()
