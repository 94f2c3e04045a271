"""Drawings as names: what a name keeps, how long it may become, what is no drawing."""

import base64
import zlib

import numpy as np
import pytest
from PIL import Image, ImageDraw

from attnviz.app.session import drawings, pictures

RED = drawings.PAINTS["red"]


def circle() -> Image.Image:
    """A red circle with smooth edges, as a browser paints it."""
    large = Image.new("RGB", (4 * drawings.PAD_SIDE_PX,) * 2, drawings.GROUND)
    ImageDraw.Draw(large).ellipse((300, 300, 1200, 1200), fill=RED)
    return large.resize((drawings.PAD_SIDE_PX,) * 2, Image.Resampling.BOX)


def named(cells: bytes, after: bytes = b"") -> str:
    packer = zlib.compressobj(9, zlib.DEFLATED, drawings.RAW_DEFLATE)
    packed = packer.compress(cells) + packer.flush() + after
    return "drawing-" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def test_a_name_holds_the_picture_cell_by_cell() -> None:
    name = drawings.name(circle())
    made = drawings.made(name)
    assert made is not None
    assert made.size == (drawings.PAD_SIDE_PX,) * 2
    assert {colour for _, colour in made.getcolors()} == {
        RED,
        drawings.GROUND,
    }  # no paint that nobody chose at an edge
    different = np.abs(np.asarray(made).astype(int) - np.asarray(circle())).max(axis=-1) > 60
    assert different.mean() < 0.02
    assert drawings.name(made) == name
    assert pictures.exists(name)
    assert pictures.made(name).tobytes() == made.tobytes()
    assert len(name) < 400


def test_the_busiest_drawing_has_a_name_too() -> None:
    cells = np.random.default_rng(0).integers(
        0, len(drawings.COLOURS), (drawings.SIDE_CELLS,) * 2, dtype=np.uint8
    )
    picture = drawings.made(named(cells.tobytes()))
    assert picture is not None
    name = drawings.name(picture)
    assert len(name) < drawings.MAX_CHARS / 2
    made = drawings.made(name)
    assert made is not None
    assert (np.asarray(made) == np.asarray(picture)).all()


N_CELLS = drawings.SIDE_CELLS**2


@pytest.mark.parametrize(
    "name",
    [
        "drawing-",
        "drawing-AAAA",
        "drawing-" + "A" * (drawings.MAX_CHARS + 1),
        "drawing-../../etc/passwd",
        named(bytes(N_CELLS - 1)),
        named(bytes(N_CELLS + 1)),
        named(bytes(10_000_000)),  # a bomb: never unpacked beyond a cell too many
        named(bytes([len(drawings.COLOURS)]) * N_CELLS),
        named(bytes(N_CELLS), after=b"more"),
        named(bytes(N_CELLS))[:-4],
        named(bytes(N_CELLS)) + "\n",
    ],
)
def test_anything_else_is_no_drawing(name: str) -> None:
    assert not drawings.is_drawing(name)
    assert drawings.made(name) is None
    assert not pictures.exists(name)
