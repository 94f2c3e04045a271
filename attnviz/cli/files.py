"""The inputs that a command reads: a text from a file or standard input, a picture, a sound.

In: what stands on the command line. Out: a string, a `PIL.Image` or a `Sound`. A file that cannot
be read raises `BadInput`, one that is not text `Refused`.
"""

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from attnviz.cli.command import Refused
from attnviz.errors import BadInput

if TYPE_CHECKING:
    from PIL.Image import Image

    from attnviz.audio.sound import Sound

STANDARD_INPUT = "-"


def text(argument: str | None) -> str | None:
    """The text itself, or for "-" all of standard input as UTF-8, without its last line break."""
    if argument != STANDARD_INPUT:
        return argument
    return _decoded(sys.stdin.buffer.read(), "standard input")


def text_in(path: str) -> str:
    """All of a text file in UTF-8, without its last line break."""
    return _decoded(_content(path), path)


def _decoded(content: bytes, source: str) -> str:
    try:
        return content.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise Refused(
            f"{source} is not text in UTF-8: byte {error.start} cannot be read"
        ) from error


def picture(path: str) -> "Image":
    """The picture in a file, in RGB."""
    from PIL import Image

    try:
        return Image.open(io.BytesIO(_content(path))).convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise BadInput(
            f"{path} is no picture that can be read: give a PNG or JPEG file", code="bad_picture"
        ) from error


def sound(path: str) -> "Sound":
    """The sound in a WAV file."""
    from attnviz.audio.sound import read_wav

    return read_wav(_content(path))


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadInput(f"cannot read {path}: {reason}", code="no_file", path=path) from error
