"""Pictures: those drawn by the app, and uploads, which are checked before they are believed."""

import base64
from io import BytesIO

import numpy as np
import pytest
from PIL import Image, ImageOps

from attnviz.app.session import pictures
from attnviz.capture.arguments import picture_digest
from attnviz.errors import AttnVizError
from attnviz.worlds import shapes


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
    assert picture_digest(image) == picture_digest(pictures.drawn(name))


def test_pictures_are_told_apart() -> None:
    assert len({picture_digest(pictures.drawn(name)) for name in pictures.DRAWN}) == 3


def test_an_upload_keeps_its_pixels_and_nothing_else() -> None:
    data = written(gradient(), "PNG", pnginfo=None) + b"<script>hidden</script>"
    image = pictures.uploaded(data)
    assert picture_digest(image) == picture_digest(gradient())
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
    long = b"x" * (pictures.MAX_BYTES + 1)
    for data, code in ((many, "picture_too_large"), (long, "picture_file_too_large")):
        with pytest.raises(AttnVizError) as caught:
            pictures.uploaded(data)
        assert caught.value.code == code


def test_a_sample_is_what_its_world_draws() -> None:
    name = pictures.sample_name(7)
    scene = shapes.sample(7)
    assert (np.asarray(pictures.made(name)) == scene.picture()).all()
    assert pictures.truth(name) == scene.label in shapes.LABELS
    assert picture_digest(pictures.made(name)) != picture_digest(pictures.made("sample-8"))


def test_samples_have_numbers() -> None:
    assert pictures.sample_seed("sample-0") == 0
    assert pictures.sample_seed("sample-99999") == 99_999 == pictures.LAST_SAMPLE
    assert pictures.sample_name(pictures.LAST_SAMPLE + 1) == "sample-0"
    assert pictures.sample_name(-1) == "sample-99999"


HOSTILE = [
    "sample-",
    "sample--1",
    "sample-100000",
    "sample-01",
    "sample-1.5",
    "sample-٣",
    "sample-1\n",
]


@pytest.mark.parametrize("name", [*HOSTILE, "", "Sample-1", "shape", "../own", "own\x00"])
def test_other_names_are_no_pictures(name: str) -> None:
    assert not pictures.exists(name)
    assert pictures.sample_seed(name) is None
    assert pictures.truth(name) == ""


def test_each_model_has_a_first_picture() -> None:
    assert pictures.default("shapes") == "sample-1"
    assert pictures.default("other") == "shapes"
    assert all(map(pictures.exists, (pictures.default("shapes"), *pictures.DRAWN, pictures.OWN)))


def from_pad(image: Image.Image, form: str = "PNG") -> str:
    return pictures.PAD_START + base64.b64encode(written(image, form)).decode()


def pad_sized(mode: str = "RGBA") -> Image.Image:
    side = pictures.PAD_SIDE_PX
    return gradient(side // 2, side // 2).resize((side, side)).convert(mode)


def test_a_drawing_keeps_its_pixels_and_nothing_else() -> None:
    image = pictures.from_pad(from_pad(pad_sized()))
    assert picture_digest(image) == picture_digest(pad_sized("RGB"))
    assert not image.info


@pytest.mark.parametrize(
    "sent",
    [
        None,
        7,
        b"data:image/png;base64,",
        {"url": "x"},
        "",
        "</script><img src=x onerror=alert(1)>",
        pictures.PAD_START,
        pictures.PAD_START + "no base64!",
        pictures.PAD_START + "漢字",
        pictures.PAD_START + base64.b64encode(b"<svg xmlns='x'/>").decode(),
        from_pad(pad_sized())[:400],
        from_pad(pad_sized()).replace("image/png", "text/html"),
        from_pad(pad_sized("RGB"), "GIF"),
        from_pad(gradient()),
        from_pad(Image.new("RGB", (pictures.PAD_SIDE_PX, 10))),
    ],
)
def test_what_is_no_drawing_is_refused(sent: object) -> None:
    with pytest.raises(AttnVizError) as caught:
        pictures.from_pad(sent)
    assert caught.value.code == "bad_picture"


def test_a_drawing_that_is_too_large_is_refused() -> None:
    many = from_pad(Image.new("1", (6000, 6000)))
    long = pictures.PAD_START + "A" * (2 * pictures.MAX_BYTES)
    for sent, code in ((many, "picture_too_large"), (long, "picture_file_too_large")):
        with pytest.raises(AttnVizError) as caught:
            pictures.from_pad(sent)
        assert caught.value.code == code


@pytest.mark.parametrize("size", [(1, 20_000), (20_000, 1)])
def test_uploaded_refuses_a_side_that_is_too_long(size: tuple[int, int]) -> None:
    with pytest.raises(AttnVizError, match="limit is 10000") as caught:
        pictures.uploaded(written(Image.new("RGB", size), "PNG"))
    assert caught.value.code == "picture_side_too_long"


def test_uploaded_keeps_the_shades_of_sixteen_bits() -> None:
    ramp = np.linspace(0, 65_535, 64).astype(np.uint16)[None].repeat(4, 0)
    image = pictures.uploaded(written(Image.fromarray(ramp), "PNG"))
    assert np.asarray(image)[0, :, 0].tolist() == (ramp[0] >> 8).tolist()
