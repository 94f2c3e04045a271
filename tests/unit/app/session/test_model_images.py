"""Pictures: those drawn by the app, and uploads, which are checked before they are believed."""

import base64
from io import BytesIO

import numpy as np
import pytest
from PIL import Image, ImageOps

from attnviz.app.session import model_images
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


@pytest.mark.parametrize("name", model_images.DRAWN)
def test_a_drawn_picture_is_the_same_each_time(name: str) -> None:
    image = model_images.drawn(name)
    assert image.size == (model_images.SIDE_PX, model_images.SIDE_PX)
    assert len(image.getcolors(1 << 20) or ()) > 1
    assert picture_digest(image) == picture_digest(model_images.drawn(name))


def test_pictures_are_told_apart() -> None:
    assert len({picture_digest(model_images.drawn(name)) for name in model_images.DRAWN}) == 3


def test_an_upload_keeps_its_pixels_and_nothing_else() -> None:
    data = written(gradient(), "PNG", pnginfo=None) + b"<script>hidden</script>"
    image = model_images.uploaded(data)
    assert picture_digest(image) == picture_digest(gradient())
    assert not image.info


def test_a_photograph_stands_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned
    image = model_images.uploaded(written(gradient(), "JPEG", exif=exif))
    assert image.size == (20, 30)
    assert ImageOps.exif_transpose(image).size == (20, 30)


def test_a_large_picture_is_made_smaller() -> None:
    image = model_images.uploaded(written(Image.new("RGBA", (3000, 1500)), "PNG"))
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
        model_images.uploaded(data)
    assert caught.value.code == "bad_picture"


def test_what_is_too_large_is_refused_before_it_is_decoded() -> None:
    many = written(Image.new("1", (6000, 6000)), "PNG")
    long = b"x" * (model_images.MAX_BYTES + 1)
    for data, code in ((many, "picture_too_large"), (long, "picture_file_too_large")):
        with pytest.raises(AttnVizError) as caught:
            model_images.uploaded(data)
        assert caught.value.code == code


def test_a_sample_is_what_its_world_draws() -> None:
    name = model_images.sample_name(7)
    scene = shapes.sample(7)
    assert (np.asarray(model_images.made(name)) == scene.picture()).all()
    assert model_images.truth(name) == scene.label in shapes.LABELS
    assert picture_digest(model_images.made(name)) != picture_digest(model_images.made("sample-8"))


def test_samples_have_numbers() -> None:
    assert model_images.sample_seed("sample-0") == 0
    assert model_images.sample_seed("sample-99999") == 99_999 == model_images.LAST_SAMPLE
    assert model_images.sample_name(model_images.LAST_SAMPLE + 1) == "sample-0"
    assert model_images.sample_name(-1) == "sample-99999"


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
    assert not model_images.exists(name)
    assert model_images.sample_seed(name) is None
    assert model_images.truth(name) == ""


def test_each_model_has_a_first_picture() -> None:
    assert model_images.default("shapes") == "sample-1"
    assert model_images.default("other") == "shapes"
    assert all(
        map(
            model_images.exists,
            (model_images.default("shapes"), *model_images.DRAWN, model_images.OWN),
        )
    )


def from_pad(image: Image.Image, form: str = "PNG") -> str:
    return model_images.PAD_START + base64.b64encode(written(image, form)).decode()


def pad_sized(mode: str = "RGBA") -> Image.Image:
    side = model_images.PAD_SIDE_PX
    return gradient(side // 2, side // 2).resize((side, side)).convert(mode)


def test_a_drawing_keeps_its_pixels_and_nothing_else() -> None:
    image = model_images.from_pad(from_pad(pad_sized()))
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
        model_images.PAD_START,
        model_images.PAD_START + "no base64!",
        model_images.PAD_START + "漢字",
        model_images.PAD_START + base64.b64encode(b"<svg xmlns='x'/>").decode(),
        from_pad(pad_sized())[:400],
        from_pad(pad_sized()).replace("image/png", "text/html"),
        from_pad(pad_sized("RGB"), "GIF"),
        from_pad(gradient()),
        from_pad(Image.new("RGB", (model_images.PAD_SIDE_PX, 10))),
    ],
)
def test_what_is_no_drawing_is_refused(sent: object) -> None:
    with pytest.raises(AttnVizError) as caught:
        model_images.from_pad(sent)
    assert caught.value.code == "bad_picture"


def test_a_drawing_that_is_too_large_is_refused() -> None:
    many = from_pad(Image.new("1", (6000, 6000)))
    long = model_images.PAD_START + "A" * (2 * model_images.MAX_BYTES)
    for sent, code in ((many, "picture_too_large"), (long, "picture_file_too_large")):
        with pytest.raises(AttnVizError) as caught:
            model_images.from_pad(sent)
        assert caught.value.code == code


@pytest.mark.parametrize("size", [(1, 20_000), (20_000, 1)])
def test_uploaded_refuses_a_side_that_is_too_long(size: tuple[int, int]) -> None:
    with pytest.raises(AttnVizError, match="limit is 10000") as caught:
        model_images.uploaded(written(Image.new("RGB", size), "PNG"))
    assert caught.value.code == "picture_side_too_long"


def test_uploaded_keeps_the_shades_of_sixteen_bits() -> None:
    ramp = np.linspace(0, 65_535, 64).astype(np.uint16)[None].repeat(4, 0)
    image = model_images.uploaded(written(Image.fromarray(ramp), "PNG"))
    assert np.asarray(image)[0, :, 0].tolist() == (ramp[0] >> 8).tolist()
