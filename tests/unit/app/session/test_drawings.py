"""Drawings as names: what a name keeps, how long it may become, what is no drawing."""

import base64
import zlib

import numpy as np
import pytest
from PIL import Image, ImageDraw

from attnviz.app.session import model_images

RED = model_images.PAINTS["red"]


def circle() -> Image.Image:
    """A red circle with smooth edges, as a browser paints it."""
    large = Image.new("RGB", (4 * model_images.PAD_SIDE_PX,) * 2, model_images.GROUND)
    ImageDraw.Draw(large).ellipse((300, 300, 1200, 1200), fill=RED)
    return large.resize((model_images.PAD_SIDE_PX,) * 2, Image.Resampling.BOX)


def named(cells: bytes, after: bytes = b"") -> str:
    packer = zlib.compressobj(9, zlib.DEFLATED, model_images.RAW_DEFLATE)
    packed = packer.compress(cells) + packer.flush() + after
    return "drawing-" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def test_a_name_holds_the_picture_cell_by_cell() -> None:
    name = model_images.drawing_name(circle())
    made = model_images.drawing(name)
    assert made is not None
    assert made.size == (model_images.PAD_SIDE_PX,) * 2
    assert {colour for _, colour in made.getcolors()} == {
        RED,
        model_images.GROUND,
    }  # no paint that nobody chose at an edge
    different = np.abs(np.asarray(made).astype(int) - np.asarray(circle())).max(axis=-1) > 60
    assert different.mean() < 0.02
    assert model_images.drawing_name(made) == name
    assert model_images.exists(name)
    assert model_images.made(name).tobytes() == made.tobytes()
    assert len(name) < 400


def test_the_busiest_drawing_has_a_name_too() -> None:
    cells = np.random.default_rng(0).integers(
        0, len(model_images.COLOURS), (model_images.SIDE_CELLS,) * 2, dtype=np.uint8
    )
    picture = model_images.drawing(named(cells.tobytes()))
    assert picture is not None
    name = model_images.drawing_name(picture)
    assert len(name) < model_images.MAX_DRAWING_CHARS / 2
    made = model_images.drawing(name)
    assert made is not None
    assert (np.asarray(made) == np.asarray(picture)).all()


N_CELLS = model_images.SIDE_CELLS**2


@pytest.mark.parametrize(
    "name",
    [
        "drawing-",
        "drawing-AAAA",
        "drawing-" + "A" * (model_images.MAX_DRAWING_CHARS + 1),
        "drawing-../../etc/passwd",
        named(bytes(N_CELLS - 1)),
        named(bytes(N_CELLS + 1)),
        named(bytes(10_000_000)),  # a bomb: never unpacked beyond a cell too many
        named(bytes([len(model_images.COLOURS)]) * N_CELLS),
        named(bytes(N_CELLS), after=b"more"),
        named(bytes(N_CELLS))[:-4],
        named(bytes(N_CELLS)) + "\n",
    ],
)
def test_anything_else_is_no_drawing(name: str) -> None:
    assert not model_images.is_drawing(name)
    assert model_images.drawing(name) is None
    assert not model_images.exists(name)
