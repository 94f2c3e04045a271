"""Pictures: those drawn by the app, and uploads, which are checked before they are believed."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image, ImageOps

from attnviz.errors import AttnVizError
from attnviz.ui import pictures


def written(image: Image.Image, form: str, **options: object) -> bytes:
    buffer = BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def gradient(width: int = 30, height: int = 20) -> Image.Image:
    rows, columns = np.mgrid[:height, :width]
    return Image.fromarray(np.stack([rows * 9, columns * 7, rows + columns], -1).astype(np.uint8))


@pytest.mark.parametrize("name", pictures.DRAWN)
def test_a_drawn_picture_is_the_same_each_time(name: str) -> None:
    image = pictures.drawn(name)
    assert image.size == (pictures.SIDE_PX, pictures.SIDE_PX)
    assert len(image.getcolors(1 << 20) or ()) > 1
    assert pictures.digest(image) == pictures.digest(pictures.drawn(name))


def test_pictures_are_told_apart() -> None:
    assert len({pictures.digest(pictures.drawn(name)) for name in pictures.DRAWN}) == 3


def test_an_upload_keeps_its_pixels_and_nothing_else() -> None:
    data = written(gradient(), "PNG", pnginfo=None) + b"<script>hidden</script>"
    image = pictures.uploaded(data)
    assert pictures.digest(image) == pictures.digest(gradient())
    assert not image.info


def test_a_photograph_stands_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned
    image = pictures.uploaded(written(gradient(), "JPEG", exif=exif))
    assert image.size == (20, 30)
    assert ImageOps.exif_transpose(image).size == (20, 30)


def test_a_large_picture_is_made_smaller() -> None:
    image = pictures.uploaded(written(Image.new("RGBA", (3000, 1500)), "PNG"))
    assert image.size == (1024, 512)
    assert image.mode == "RGB"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GIF89a nothing",
        b"<svg xmlns='x'/>",
        written(gradient(), "PNG")[:60],
        written(gradient(), "GIF"),
        written(gradient(), "BMP"),
    ],
    ids=["empty", "no picture", "svg", "cut short", "gif", "bmp"],
)
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    with pytest.raises(AttnVizError) as caught:
        pictures.uploaded(data)
    assert caught.value.code == "bad_picture"


def test_what_is_too_large_is_refused_before_it_is_decoded() -> None:
    many = written(Image.new("1", (6000, 6000)), "PNG")
    for data in (many, b"x" * (pictures.MOST_BYTES + 1)):
        with pytest.raises(AttnVizError) as caught:
            pictures.uploaded(data)
        assert caught.value.code == "picture_too_large"
