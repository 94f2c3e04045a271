"""`png.encoded` writes what another reader reads: every cell as a square of its colour."""

import io

import numpy as np
import pytest
from PIL import Image

from attnviz.figures import png

CHANCE = np.random.default_rng(3)


@pytest.mark.parametrize("enlarged", [1, 3, 7])
@pytest.mark.parametrize("n_colours", [1, 5, 256, 400])
def test_a_picture_is_read_as_it_was_written(enlarged: int, n_colours: int) -> None:
    colours = CHANCE.permutation(400**2)[:n_colours]
    palette = np.stack([colours % 251, colours // 251 % 251, colours // 63001], 1).astype(np.uint8)
    cells = palette[np.arange(23 * 29).reshape(23, 29) % n_colours]
    cells[5] = cells[4]  # a row that repeats the one above
    data = png.encoded(cells, enlarged)
    image = Image.open(io.BytesIO(data))
    assert image.mode == ("P" if len(np.unique(cells.reshape(-1, 3), axis=0)) <= 256 else "RGB")
    pixels = np.asarray(image.convert("RGB"))
    np.testing.assert_array_equal(pixels, cells.repeat(enlarged, 0).repeat(enlarged, 1))


def test_enlarging_costs_little() -> None:
    cells = CHANCE.integers(0, 16, (64, 64, 1), dtype=np.uint8).repeat(3, axis=2)
    small, large = (len(png.encoded(cells, times)) for times in (1, 16))
    assert large < 4 * small
