"""The pictures that a vision model reads: a few drawn here, and what a visitor uploads.

In: a picture's name, or the bytes of a file. Out: a `PIL.Image` in RGB. An upload is input from
outside: only PNG and JPEG are opened, their size is checked before a pixel is decoded, and what is
kept is made of pixels alone, no bytes of the file. An upload stays in its session.
"""

from collections.abc import Callable
from hashlib import sha256
from io import BytesIO

from PIL import Image, ImageDraw, ImageOps

from attnviz.errors import BadInput, TooLarge

SIDE_PX = 448
MOST_BYTES = 5 * 2**20
MOST_PIXELS = 25_000_000
KEPT_SIDE_PX = 1024
FORMATS = ("PNG", "JPEG")
MIB = 2**20


def drawn(name: str) -> Image.Image:
    """One of the pictures that the app draws itself."""
    image = Image.new("RGB", (SIDE_PX, SIDE_PX))
    DRAWN[name](ImageDraw.Draw(image))
    return image


def uploaded(data: bytes) -> Image.Image:
    """The picture in a file, upright and not larger than needed; `BadInput` says why it is none."""
    if len(data) > MOST_BYTES:
        raise TooLarge(
            f"the file has {len(data)} bytes and the limit is {MOST_BYTES}; choose a smaller one",
            code="picture_too_large",
            found=-(-len(data) // MIB),
            limit=MOST_BYTES // MIB,
            unit="MiB",
        )
    try:
        image = Image.open(BytesIO(data), formats=FORMATS)
        if image.width * image.height > MOST_PIXELS:
            raise TooLarge(
                f"the picture has {image.width * image.height} pixels and the limit is"
                f" {MOST_PIXELS}; choose a smaller one",
                code="picture_too_large",
                found=image.width * image.height // 1_000_000,
                limit=MOST_PIXELS // 1_000_000,
                unit="megapixels",
            )
        upright = ImageOps.exif_transpose(image).convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise BadInput(
            "the file is no PNG or JPEG picture that can be read; choose another one",
            code="bad_picture",
        ) from error
    upright.thumbnail((KEPT_SIDE_PX, KEPT_SIDE_PX))
    clean = Image.new("RGB", upright.size)
    clean.paste(upright)
    return clean


def digest(image: Image.Image) -> str:
    """What tells two pictures apart."""
    return sha256(repr(image.size).encode() + image.tobytes()).hexdigest()


def _shapes(draw: ImageDraw.ImageDraw) -> None:
    """A circle, a square and a triangle on a plain ground."""
    draw.rectangle((0, 0, SIDE_PX, SIDE_PX), fill=(238, 234, 222))
    draw.ellipse((40, 48, 200, 208), fill=(200, 62, 56))
    draw.rectangle((256, 64, 400, 208), fill=(46, 96, 160))
    draw.polygon(((224, 256), (124, 408), (324, 408)), fill=(232, 170, 54))


def _landscape(draw: ImageDraw.ImageDraw) -> None:
    """Sky, sun, hills, a house and a tree."""
    for row in range(SIDE_PX):
        fade = row / SIDE_PX
        draw.line(
            ((0, row), (SIDE_PX, row)), fill=(int(120 + 110 * fade), int(180 + 40 * fade), 235)
        )
    draw.ellipse((320, 40, 400, 120), fill=(250, 216, 90))
    draw.ellipse((-160, 250, 320, 620), fill=(104, 156, 88))
    draw.ellipse((150, 280, 640, 700), fill=(74, 128, 76))
    draw.rectangle((110, 236, 210, 320), fill=(224, 208, 184))
    draw.polygon(((96, 240), (160, 176), (224, 240)), fill=(160, 68, 52))
    draw.rectangle((148, 272, 176, 320), fill=(96, 66, 46))
    draw.rectangle((330, 250, 346, 340), fill=(98, 70, 48))
    draw.ellipse((286, 160, 390, 272), fill=(44, 100, 58))


def _stripes(draw: ImageDraw.ImageDraw) -> None:
    """Stripes and a board of squares: texture without objects."""
    step = SIDE_PX // 8
    for row in range(8):
        for column in range(8):
            box = (column * step, row * step, (column + 1) * step - 1, (row + 1) * step - 1)
            light = (row + column) % 2 if row < 4 else column % 2
            draw.rectangle(box, fill=(232, 232, 226) if light else (48, 64, 72))
    draw.rectangle((step * 3, step * 3, step * 5 - 1, step * 5 - 1), fill=(206, 84, 60))


DRAWN: dict[str, Callable[[ImageDraw.ImageDraw], None]] = {
    "shapes": _shapes,
    "landscape": _landscape,
    "stripes": _stripes,
}
OWN = "own"  # the picture that the visitor uploaded
