"""The input of a command: a text, picture or sound and a model, or a saved capture.

In: the arguments of a command; files and standard input are read here. Out: a `Capture` and the
name of its model. A file that cannot be read raises `BadInput`, one that is not text `Refused`;
`attnviz.capture` and `attnviz.read` check everything else.
"""

import argparse
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attnviz
from attnviz.cli.command import Refused
from attnviz.errors import BadInput

if TYPE_CHECKING:
    from PIL.Image import Image

    from attnviz.attention.capture import Capture
    from attnviz.audio.sound import Sound
    from attnviz.models.loaded_model import LoadedModel

STANDARD_INPUT = "-"
DEFAULT_MODEL = "minilm"  # that of `models.registry`, which loads numpy
INPUTS = {"image", "sound"}  # what a model may read besides a text
NOTHING_TO_READ = ("what_to_capture", "nothing_to_read")  # the codes of an error that says so
NOTHING_GIVEN = "give a text, - for standard input, or --file, --image or --sound with a FILE"
# what means nothing beside a saved capture, by the name that argparse keeps it under
OF_A_RUN = (
    "text", "file", "pair", "target", "image", "sound", "generate", "chat", "cut", "keep", "model",
    "revision", "device", "dtype",
)  # fmt: skip


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say what is looked at."""
    add = parser.add_argument_group("input").add_argument
    add("text", nargs="?", metavar="TEXT", help="the text; - reads it from standard input")
    add("--file", metavar="FILE", help="read the text from a file, in UTF-8")
    add("--pair", metavar="TEXT", help="a second text, for models that take a pair")
    add("--target", metavar="TEXT", help="the text that an encoder-decoder writes, or a transcript")
    add("--image", metavar="FILE", help="a picture, for models that see")
    add("--sound", metavar="FILE", help="a WAV file, for models that hear")
    add("--generate", type=int, metavar="N", help="let the model write N tokens first")
    add("--chat", action="store_true", help="give the text as a message, in the model's template")
    add("--cut", action="store_true", help="keep the beginning of a text that is too long")
    add("--keep", metavar="HEADS", help="keep these layers and heads alone: L8,L2.H1")
    add("--from", dest="source", metavar="FILE", help="a saved capture, in place of all the others")
    add = parser.add_argument_group("model").add_argument
    add("--model", metavar="NAME", help=f"listed name, hub id, folder ({DEFAULT_MODEL})")
    add("--revision", metavar="NAME", help="branch, tag or commit of a hub model")
    add("--device", metavar="NAME", help="where it computes, e.g. cuda (cpu)")
    add("--dtype", metavar="NAME", help="float32, float16 or bfloat16 (float32)")


def captured(arguments: argparse.Namespace) -> tuple[str, "Capture"]:
    """The name of the model, and the capture that was read or is made now.

    Raises `Refused` where there is nothing to read, and where a saved capture and a text or a
    model were given; errors of the library pass through.
    """
    if arguments.source is None:
        return _made(arguments)
    for name in OF_A_RUN:
        if getattr(arguments, name) not in (None, False):
            shown = "a text" if name == "text" else f"--{name}"
            raise Refused(f"--from FILE has its model and its input: leave {shown} out")
    from attnviz.files.capture_file import read as capture_file  # loads torch

    cap = capture_file.read(arguments.source)
    return cap.model.id, cap


def _made(arguments: argparse.Namespace) -> tuple[str, "Capture"]:
    model = attnviz.load(
        arguments.model or DEFAULT_MODEL,
        device=arguments.device,
        dtype=arguments.dtype,
        revision=arguments.revision,
    )
    if model.notice:
        print(f"attnviz: {model.notice}", file=sys.stderr)
    return model.name, _run(model, arguments)


def _run(model: "LoadedModel", arguments: argparse.Namespace) -> "Capture":
    text, options = _text(arguments), _options(arguments)
    try:
        return attnviz.capture(model, text, **options)
    except BadInput as error:
        if error.code in NOTHING_TO_READ and text is None and not INPUTS & options.keys():
            raise Refused(f"{model.name} has nothing to read: {NOTHING_GIVEN}") from error
        raise


def _text(arguments: argparse.Namespace) -> str | None:
    """The text on the command line, in a file or from standard input; None without one."""
    if arguments.file is None:
        return text(arguments.text)
    if arguments.text is not None:
        raise Refused("a text and --file FILE were given: leave one of them out")
    return text_in(arguments.file)


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `attnviz.capture` besides the text: those that were given."""
    options = {
        "text_pair": arguments.pair,
        "target": arguments.target,
        "generate": arguments.generate,
        "chat": arguments.chat or None,
        "cut": arguments.cut or None,
        "keep": None if arguments.keep is None else arguments.keep.split(","),
        "image": None if arguments.image is None else picture(arguments.image),
        "sound": None if arguments.sound is None else sound(arguments.sound),
    }
    return {name: value for name, value in options.items() if value is not None}


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
