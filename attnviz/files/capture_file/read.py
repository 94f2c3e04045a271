"""Reading a capture file: everything is checked before anything is used.

In: a path, or the bytes of an upload. Out: a `Capture` whose tensors lie in the file, and what the
file says of how it was made. A file that is not what it must be raises `BadInput` that names the
place; nothing of another library reaches the caller, and no code is run.
"""

import io
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from safetensors import SafetensorError, safe_open
from safetensors.torch import load as deserialised
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.errors import BadInput, TooLarge
from attnviz.files.capture_file import calls, parts
from attnviz.files.capture_file.storages import MAX_DIMENSIONS, Unpacker
from attnviz.files.capture_file.write import ENTRY, FORMAT, MAX_DESCRIBED, VERSION, labelled
from attnviz.notation.json_fields import Field, Malformed, parsed

T = TypeVar("T")
Load = Callable[[str], Tensor]

MAX_BYTES = 8 * 2**30
MAX_HEADER = 3 * MAX_DESCRIBED  # the JSON stands in it as a string, and arrays beside it


@dataclass(frozen=True)
class About:
    """The origin of a capture file: versions by package, and the comparison with the model.

    `error` is the largest difference between derived numbers and the model's own before anything
    was rounded for the file, None where there was nothing to compare.
    """

    versions: dict[str, str]
    error: float | None
    tolerance: float | None


def read(source: str | Path | bytes, *, max_bytes: int = MAX_BYTES) -> Capture:
    """The capture of a file that `attnviz.save` wrote, without its model.

    Derived stages and `verify()` are those of the saved capture. Raises `BadInput` for a file that
    is missing, is not a capture file or is damaged, and `TooLarge` for one over `max_bytes`.
    """
    return opened(source, max_bytes=max_bytes)[0]


def opened(source: str | Path | bytes, *, max_bytes: int = MAX_BYTES) -> tuple[Capture, About]:
    """As `read`, with what the file says of how it was made."""
    name = "the file" if isinstance(source, bytes) else str(source)
    try:
        with _arrays(source, max_bytes) as (description, load):
            return _capture(parsed(description), load)
    except Malformed as error:
        raise BadInput(
            f"{name} cannot be read as a capture: {error}; read a file that attnviz.save wrote"
            " as .safetensors",
            code="bad_capture_file",
            path=name,
            reason=str(error),
        ) from error


# --- the file ----------------------------------------------------------------------------------


@contextmanager
def _arrays(source: str | Path | bytes, max_bytes: int) -> Iterator[tuple[str, Load]]:
    """The description of a file, and the function that loads one of its arrays."""
    if isinstance(source, bytes):
        _require_size(len(source), max_bytes)
        description = _description(io.BytesIO(source), len(source))
        arrays = _loaded(lambda: deserialised(source))
        yield description, lambda name: arrays[_known(name, arrays)].clone()  # aligned again
        return
    path = Path(source)
    try:
        size = path.stat().st_size
        _require_size(size, max_bytes)
        with path.open("rb") as file:
            description = _description(file, size)
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadInput(f"cannot read {path}: {reason}", code="no_file", path=str(path)) from error
    with _loaded(lambda: safe_open(path, framework="pt")) as file:
        names = frozenset(file.keys())
        yield description, lambda name: _loaded(lambda: file.get_tensor(_known(name, names)))


def _require_size(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise TooLarge(
            f"the capture file has {size:,} bytes and the limit is {max_bytes:,}; read it with a"
            " larger max_bytes, or save it with dtype='float16'",
            code="capture_file_too_large",
            found=size,
            limit=max_bytes,
            unit="bytes",
        )


def _description(file: io.BufferedIOBase, size: int) -> str:
    """The JSON that attnviz put into the header of a safetensors file."""
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > size - 8:
        raise Malformed("it is not a safetensors file, or it was cut short")
    if length > MAX_HEADER:
        raise Malformed(f"its header has {length:,} bytes; {MAX_HEADER:,} are allowed")
    try:
        header = parsed(file.read(length).decode())
    except UnicodeDecodeError as error:
        raise Malformed("it is not a safetensors file: its header is not UTF-8") from error
    metadata = header.entries().get("__metadata__")
    description = None if metadata is None else metadata.entries().get(ENTRY)
    if description is None:
        raise Malformed("it is a safetensors file without a capture in it")
    return description.text()


def _loaded(load: Callable[[], T]) -> T:
    """The value that safetensors reads; its several kinds of errors become one."""
    try:
        return load()
    except (SafetensorError, OSError, KeyError, ValueError, TypeError, RuntimeError) as error:
        raise Malformed(f"its arrays are damaged ({error})") from error


def _known(name: str, names: Container[str]) -> str:
    if name not in names:
        raise Malformed(f"it has no array {name!a:.60}")
    return name


# --- the capture -------------------------------------------------------------------------------


def _capture(about: Field, load: Load) -> tuple[Capture, About]:
    """Everything the description says, each piece checked as it is taken."""
    _require_version(about)
    entries = about.record(
        "format", "version", "made_with", "verified", "model", "n_generated", "grid", "frame_s",
        "missing", "tokens", "calls", "tensors",
    )  # fmt: skip
    tensors = Unpacker(entries["tensors"], load)
    tokens = parts.all_tokens(entries["tokens"])
    frame_s = entries["frame_s"].optional()
    capture = Capture(
        model=parts.model(entries["model"]),
        calls=tuple(
            calls.call(field, f"calls.{number}", tensors)
            for number, field in enumerate(entries["calls"].rows())
        ),
        tokens_by_stack=tokens,
        n_generated=entries["n_generated"].whole(0, max(len(rows[0]) for rows in tokens.values())),
        grid=parts.grid(entries["grid"]),
        frame_s=None if frame_s is None else frame_s.number(),
        hidden=_output("hidden", tensors),
        logits=_output("logits", tensors),
        missing=parts.missing(entries["missing"]),
    )
    if not capture.calls:
        raise Malformed("it has no calls")
    for call, field in zip(capture.calls, entries["calls"].rows(), strict=True):
        _check_labels(capture, call, field.entries()["labelled"])
    return capture, _about(entries)


def _require_version(about: Field) -> None:
    """Refuse what another program, or a newer attnviz, wrote; the rest may then be unknown."""
    entries = about.entries()
    if "format" not in entries or entries["format"].value != FORMAT:
        raise Malformed("it is not a capture of attnviz")
    version = entries.get("version", about).value
    if version != VERSION:
        raise Malformed(
            f"it is of version {version!a:.20} and this attnviz reads version {VERSION};"
            " install the attnviz that it was saved with"
        )


def _output(name: str, tensors: Unpacker) -> Tensor | None:
    """A tensor of the model's answer, where the file has it."""
    if name not in tensors:
        return None
    tensor = tensors.take(name)
    if tensor.dtype not in calls.FLOATS or not 1 < tensor.dim() <= MAX_DIMENSIONS:
        raise Malformed(f"{name} is not a tensor of 2 to {MAX_DIMENSIONS} dimensions")
    return tensor


def _check_labels(capture: Capture, call: AttentionCall, field: Field) -> None:
    """Refuse tokens that are fewer or more than the queries or keys that they name."""
    expected = tuple(axis.flag() for axis in field.rows(2))
    if labelled(capture, call) != expected:
        raise Malformed(
            f"{field.place} says {expected} and its {call.n_query} queries and {call.n_key} keys"
            " have other tokens"
        )


def _about(entries: Mapping[str, Field]) -> About:
    numbers = entries["verified"].record("error", "tolerance")
    error, tolerance = numbers["error"].optional(), numbers["tolerance"].optional()
    return About(
        versions={name: v.text() for name, v in entries["made_with"].entries().items()},
        error=None if error is None else error.number(),
        tolerance=None if tolerance is None else tolerance.number(),
    )
