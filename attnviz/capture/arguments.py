"""The arguments of `attnviz.capture`, each checked by itself and brought into one form.

In: texts, pictures, a sound or ready inputs, in any form that a caller may have them. Out: tuples
of strings and of pictures in RGB, a `Sound`, arrays. Nothing here imports torch: a tensor is
recognised only where torch is loaded already.
"""

import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from attnviz.audio.sound import Sound, checked, read_wav
from attnviz.errors import BadInput
from attnviz.tokens.labels import without_surrogates

MODES = ("RGB", "RGBA", "L", "P", "1", "LA", "CMYK")
NUMBERS = "biuf"  # numpy's kinds of numbers that a model can read: bool, int, unsigned, float
OPTIONS = (bool, int, float, str, type(None))

Picture = Image.Image | np.ndarray | str | Path


def as_texts(value: object, name: str) -> tuple[str, ...]:
    """One text, or each of several, as a tuple; lone surrogates become U+FFFD.

    Raises `BadInput` for anything but strings and for a text without any visible character.
    """
    texts = _strings(value)
    if texts is None:
        raise BadInput(
            f"{name} is {type(value).__name__}; give a string, or a list of strings for a batch",
            code="not_a_string",
            name=name,
            found=type(value).__name__,
        )
    if not texts or not all(text.strip() for text in texts):
        raise BadInput(
            f"{name} is empty; give at least one character that is not white space",
            code="empty_text",
            name=name,
        )
    return tuple(without_surrogates(text) for text in texts)


def _strings(value: object) -> list[str] | None:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Sequence) or isinstance(value, bytes):
        return None
    return list(value) if all(isinstance(text, str) for text in value) else None


def as_pictures(value: object) -> tuple[Image.Image, ...]:
    """One picture, or each of several, in RGB.

    A picture is a `PIL.Image`, an array of bytes [row, column] or [row, column, 3], or the path of
    a file. Raises `BadInput` for anything else.
    """
    several = value if isinstance(value, list | tuple) else (value,)
    pictures = tuple(as_picture(picture) for picture in several)
    if not pictures:
        raise BadInput(
            "image= is an empty list; give one picture, or a list of at least one",
            code="not_an_image",
            found="an empty list",
        )
    return pictures


def as_picture(value: object) -> Image.Image:
    """One picture in RGB; raises `BadInput` for anything but a picture, an array or a path."""
    if isinstance(value, str | Path):
        return _picture_file(Path(value))
    form = type(value).__name__
    if isinstance(value, np.ndarray):
        form = f"an array of {value.dtype} with shape {value.shape}"
        if value.dtype == np.uint8 and _is_picture_shape(value.shape):
            value = Image.fromarray(value)
    if not isinstance(value, Image.Image) or value.mode not in MODES:
        raise BadInput(
            f"image= is {form}; give a PIL.Image, an array of uint8 [row, column, 3], the path of a"
            " picture, or a list of these",
            code="not_an_image",
            found=form,
        )
    return value.convert("RGB")


def _is_picture_shape(shape: tuple[int, ...]) -> bool:
    return 0 not in shape and (len(shape) == 2 or (len(shape) == 3 and shape[2] in (3, 4)))


def _picture_file(path: Path) -> Image.Image:
    """The picture in a file, upright as its camera noted it."""
    try:
        with Image.open(path.expanduser()) as image:
            return ImageOps.exif_transpose(image).convert("RGB")
    except FileNotFoundError as error:
        raise _no_file(path, error) from error
    except (OSError, ValueError, SyntaxError, RuntimeError, Image.DecompressionBombError) as error:
        raise BadInput(
            f"{path} is not a picture that can be read ({error}); give a PNG or JPEG file",
            code="bad_picture",
        ) from error


def as_sound(value: object) -> Sound:
    """A sound, or the one in a WAV file; raises `BadInput` or `TooLarge` if it cannot be used."""
    if isinstance(value, str | Path):
        path = Path(value).expanduser()
        try:
            return read_wav(path.read_bytes())
        except OSError as error:
            raise _no_file(path, error) from error
    if not isinstance(value, Sound):
        raise BadInput(
            f"sound= is {type(value).__name__}; give an attnviz.Sound or the path of a WAV file",
            code="not_a_sound",
            found=type(value).__name__,
        )
    return checked(value)


def _no_file(path: Path, error: OSError) -> BadInput:
    reason = error.strerror or str(error)
    return BadInput(f"cannot read {path}: {reason}", code="no_file", path=str(path))


def as_inputs(value: object) -> dict[str, object]:
    """Ready inputs by the name of the model's argument: tensors, arrays, single numbers, strings.

    Lists of numbers become arrays. Raises `BadInput` for anything that is not a mapping, is empty,
    or holds values that are not numbers.
    """
    if not isinstance(value, Mapping):
        raise bad_inputs(
            f"inputs= is {type(value).__name__}; give a mapping from the names of the model's"
            " arguments, such as {'input_ids': ids}"
        )
    if not value:
        raise bad_inputs("inputs= is empty; give at least one tensor, such as {'input_ids': ids}")
    return {str(name): _input(str(name), entry) for name, entry in value.items()}


def _input(name: str, value: object) -> object:
    if isinstance(value, OPTIONS):
        return value
    numbers: Any = value if is_tensor(value) else _array(name, value)
    if 0 in numbers.shape:
        raise bad_inputs(f"inputs['{name}'] has shape {tuple(numbers.shape)} and so no numbers")
    return numbers


def _array(name: str, value: object) -> np.ndarray:
    """An array of numbers from an array or from lists of equal length."""
    is_nested = isinstance(value, list | tuple) and not any(map(is_tensor, value))
    if isinstance(value, np.ndarray) or is_nested:
        try:
            array = np.asarray(value)
        except ValueError as error:
            raise bad_inputs(
                f"inputs['{name}'] has rows of different lengths; pad them to one length and give"
                " attention_mask"
            ) from error
        if array.dtype.kind in NUMBERS:
            return array
    raise bad_inputs(
        f"inputs['{name}'] is {type(value).__name__}; give a tensor, an array or lists of numbers"
    )


def bad_inputs(reason: str) -> BadInput:
    """The error for ready inputs that the model cannot be run on."""
    return BadInput(reason, code="bad_inputs", reason=reason)


def is_tensor(value: object) -> bool:
    """True for a torch tensor; torch is not imported for the answer."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def picture_digest(picture: Image.Image) -> str:
    """The sha256 of a picture's size and pixels."""
    return sha256(repr((picture.mode, picture.size)).encode() + picture.tobytes()).hexdigest()


def input_digest(value: object) -> str:
    """The sha256 of the type, shape and numbers of an array or a tensor; an option's own form.

    A tensor and an array of the same numbers have the same digest.
    """
    if isinstance(value, OPTIONS):
        return repr(value)
    numbers: Any = value
    form = str(numbers.dtype).removeprefix("torch."), tuple(numbers.shape)
    if is_tensor(value):
        flat = numbers.detach().cpu().contiguous().reshape(-1)
        numbers = flat.view(sys.modules["torch"].uint8).numpy()  # bfloat16 too, byte by byte
    return sha256(repr(form).encode() + np.ascontiguousarray(numbers).tobytes()).hexdigest()
