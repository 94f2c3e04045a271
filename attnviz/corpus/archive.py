"""Tallies and surveys as files: arrays in an .npz, without pickle, written whole or not at all.

In: a `SurveyTally` or a `Survey`. Out: a file, and back. Tickets are not stored, as they follow
from the texts. What is read is checked before it is used: names, types and shapes, and the size
that it unpacks to.
"""

import io
import json
import math
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from attnviz.corpus.result import Survey
from attnviz.corpus.tally import NO_TICKET, SurveyTally, WeightSums, shapes, ticket
from attnviz.errors import BadInput
from attnviz.notation.json_fields import Field, Malformed, parsed
from attnviz.types import HeadId, ModelKey

MAX_BYTES = 4 << 30  # of a file, unpacked
DESCRIBED_PART = 8  # the texts and labels take at most one byte in so many
MAX_HEADS = MAX_LAYERS = 1 << 16
MAX_CODES = 1 << 62  # heads × vocabulary × vocabulary: a pair's code is a number of 64 bits
LEVEL = 6  # of the compression
WEIGHED = ("received", "pairs")
COLUMNS = tuple(f"{name}.{column}" for name in WEIGHED for column in ("code", "weight", "count"))
NUMBERS = ("n_entry", "n_text", "n_token")
OF_SURVEY = ("model", "heads", "labels")
NO_ARRAYS = (*WEIGHED, *NUMBERS, "texts", "ticket")
ARRAYS = tuple(entry.name for entry in fields(SurveyTally) if entry.name not in NO_ARRAYS)
DESCRIBED, ENDING, NPY_VERSION = "described", ".npy", (1, 0)
# the end of an archive names the length of the list of its members; 64-bit archives have two ends
END_MARK, END_BYTES = b"PK\5\6", 22
LONG_MARK, LONG_BYTES = b"PK\6\7", 20
MAX_LIST_BYTES = 1 << 16
# the errors of zipfile, zlib, numpy and json for files that are damaged, or made to be
DAMAGES = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, ArithmeticError),
    *(RuntimeError, MemoryError, SyntaxError, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)
Arrays = Mapping[str, np.ndarray]
Described = dict[str, Any]


def write_tally(path: Path, tally: SurveyTally) -> None:
    """Write a tally; the file appears under its name when it is complete."""
    unfinished = path.with_name(f".{uuid4().hex}.tmp")
    try:
        unfinished.write_bytes(_content(_arrays(tally), _json(tally)))
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def read_tally(path: Path) -> SurveyTally:
    """The tally of a file. Raises `BadInput` for a file that is damaged or of another kind."""
    with _refusing(path):
        return _tally(*_read(path, MAX_BYTES))


def survey_bytes(survey: Survey, level: int = LEVEL) -> bytes:
    """The content of a survey's file; `level` is that of the compression, 1 to 9."""
    described = _json(survey.tally) | {
        "model": list(vars(survey.model).values()),
        "heads": list(map(str, survey.heads)),
        "labels": {str(entry): label for entry, label in survey.labels.items()},
    }
    return _content(_arrays(survey.tally), described, level)


def read_survey(path: str | Path, *, max_bytes: int = MAX_BYTES) -> Survey:
    """The survey of a file that `attnviz.save` wrote as .npz.

    Raises `BadInput` for a file that is missing, damaged or of another kind, or that unpacks to
    more than `max_bytes`.
    """
    path = Path(path)
    with _refusing(path):
        arrays, about = _read(path, max_bytes)
        return _survey(_tally(arrays, about), about)


def _arrays(tally: SurveyTally) -> dict[str, np.ndarray]:
    columns = {
        f"{name}.{column}": getattr(getattr(tally, name), column)
        for name in WEIGHED
        for column in ("code", "weight", "count")
    }
    return {name: getattr(tally, name) for name in ARRAYS} | columns


def _json(tally: SurveyTally) -> Described:
    texts = {str(number): text for number, text in tally.texts.items()}
    return {name: getattr(tally, name) for name in NUMBERS} | {"texts": texts}


def _content(arrays: Arrays, described: Described, level: int = LEVEL) -> bytes:
    """The bytes of an archive, the same for the same numbers: its entries carry no time."""
    content = json.dumps(described, sort_keys=True).encode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in {**arrays, DESCRIBED: np.frombuffer(content, np.uint8)}.items():
            part = io.BytesIO()
            np.lib.format.write_array(part, np.ascontiguousarray(array), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}{ENDING}")
            archive.writestr(entry, part.getvalue(), zipfile.ZIP_DEFLATED, level)
    return file.getvalue()


# --- reading: sizes are compared before anything of that size is allocated ---------------------


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Name the file in every error about what the block reads."""
    try:
        yield
    except (Malformed, BadInput) as error:
        raise _damaged(path, str(error)) from error
    except DAMAGES as error:
        raise _damaged(path, "it is no archive of numbers") from error


def _read(path: Path, max_bytes: int) -> tuple[dict[str, np.ndarray], Mapping[str, Field]]:
    """The arrays of an archive, which fit one another, and the entries that describe them."""
    with path.open("rb") as file:
        _require_few_members(file)
        with zipfile.ZipFile(file) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > max_bytes:
                raise Malformed(f"it unpacks to more than {max_bytes >> 20} MiB")
            found = dict(_header(archive, entry) for entry in archive.infolist())
            _require_fitting(found, max_bytes // DESCRIBED_PART)
            arrays = {name: _array(archive, name) for name in found}
    about = parsed(arrays.pop(DESCRIBED).tobytes().decode())
    of_survey = OF_SURVEY if "heads" in about.entries() else ()
    return arrays, about.record(*NUMBERS, "texts", *of_survey)


def _require_few_members(file: io.BufferedReader) -> None:
    """Refuse an archive that lists millions of members: zipfile makes an object of each."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - END_BYTES - LONG_BYTES))
    before, mark, end = file.read().rpartition(END_MARK)
    if not mark or len(end) != END_BYTES - len(END_MARK) or before.startswith(LONG_MARK):
        raise Malformed("it is no archive of numbers")
    if int.from_bytes(end[8:12], "little") > MAX_LIST_BYTES:
        raise Malformed("it has too many parts")


def _header(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> tuple[str, tuple[int, ...]]:
    """The name and the shape of an array, which has the type and the bytes that it must have."""
    name = entry.filename.removesuffix(ENDING)
    if name not in (*ARRAYS, *COLUMNS, DESCRIBED) or archive.getinfo(entry.filename) is not entry:
        raise Malformed(f"it has a part {entry.filename!a:.60}")
    with archive.open(entry) as file:
        if np.lib.format.read_magic(file) != NPY_VERSION:
            raise Malformed(f"{name} is written in another version of numpy's format")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        n_bytes = math.prod(shape) * dtype.itemsize
        wanted = np.uint8 if name == DESCRIBED else np.int64
        if dtype != wanted or file.tell() + n_bytes != entry.file_size:
            raise Malformed(f"{name} has the shape {shape!s:.60} and type {dtype!s:.20}")
    return name, shape


def _require_fitting(found: Mapping[str, tuple[int, ...]], most_described: int) -> None:
    """Refuse arrays that are missing or do not fit one another, by their shapes alone."""
    missing = [name for name in (*ARRAYS, *COLUMNS, DESCRIBED) if name not in found]
    if missing:
        raise Malformed(f"it lacks {missing[0]}")
    n_layer, n_head = found["even"][1], found["values"][1]
    if not (0 < n_layer <= MAX_LAYERS and 0 < n_head <= MAX_HEADS):
        raise Malformed(f"it has {n_layer} layers and {n_head} heads")
    for name, shape in shapes(n_layer, n_head).items():
        if name in ARRAYS and found[name] != shape:
            raise Malformed(f"{name} has the shape {found[name]!s:.60}; it must have {shape}")
    for name in WEIGHED:
        code, *others = (found[column] for column in COLUMNS if column.startswith(name))
        if len(code) != 1 or any(other != code for other in others):
            raise Malformed(f"{name} has columns of different lengths")
    if len(found[DESCRIBED]) != 1 or found[DESCRIBED][0] > most_described:
        raise Malformed(f"its description has more than {most_described:,} bytes")


def _array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    with archive.open(f"{name}{ENDING}") as file:
        array: np.ndarray = np.lib.format.read_array(file, allow_pickle=False)
    if name != DESCRIBED and array.size and array.min() < (-1 if name == "example" else 0):
        raise Malformed(f"{name} has numbers below 0")
    return array


def _tally(arrays: Arrays, about: Mapping[str, Field]) -> SurveyTally:
    n_head = arrays["values"].shape[1]
    n_entry = about["n_entry"].whole(1, math.isqrt(MAX_CODES // n_head))
    received = _sums("received", arrays, n_head * n_entry)
    pairs = _sums("pairs", arrays, n_head * n_entry**2)
    texts = {
        Field(int(number), entry.place).whole(): entry.text()
        for number, entry in about["texts"].entries().items()
    }
    parts: dict[str, Any] = {name: arrays[name] for name in ARRAYS}
    return SurveyTally(
        n_entry=n_entry,
        n_text=about["n_text"].whole(),
        n_token=about["n_token"].whole(),
        received=received,
        pairs=pairs,
        texts=dict(sorted(texts.items())),
        ticket=_tickets(arrays["example"], texts),
        **parts,
    )


def _sums(name: str, arrays: Arrays, n_code: int) -> WeightSums:
    """The sums under codes that are in order and below `n_code`, each of one entry at least."""
    sums = WeightSums(*(arrays[f"{name}.{column}"] for column in ("code", "weight", "count")))
    if len(sums.code):
        in_order = bool((np.diff(sums.code) > 0).all())
        if not in_order or int(sums.code[-1]) >= n_code or int(sums.count.min()) < 1:
            raise Malformed(f"{name} has codes out of order or beyond {n_code:,}, or counts of 0")
    return sums


def _tickets(examples: np.ndarray, texts: Mapping[int, str]) -> np.ndarray:
    """The tickets of the examples, computed from their texts again."""
    numbers = np.unique(examples)
    if lacking := [number for number in numbers.tolist() if number >= 0 and number not in texts]:
        raise Malformed(f"it lacks text {lacking[0]}")
    drawn = np.array(
        [NO_TICKET if number < 0 else ticket(texts[number]) for number in numbers.tolist()],
        dtype=np.uint64,
    )
    tickets = np.empty(examples.shape, dtype=np.uint64)
    for head, of_head in enumerate(examples):  # one head at a time: all take several times as much
        tickets[head] = drawn[np.searchsorted(numbers, of_head)]
    return tickets


def _survey(tally: SurveyTally, about: Mapping[str, Field]) -> Survey:
    if "heads" not in about:
        raise Malformed("it is no survey")
    heads = tuple(map(HeadId.parse, about["heads"].texts(tally.n_head)))
    n_layer = tally.even.shape[1]
    layers = [head.layer for head in heads]
    if len(set(heads)) < len(heads) or layers != sorted(layers) or len(set(layers)) != n_layer:
        raise Malformed(f"its heads are not those of {n_layer} layers, in order")
    labels = {int(entry): label.text() for entry, label in about["labels"].entries().items()}
    return Survey(ModelKey(*about["model"].texts(4)), heads, tally, labels)


def _damaged(path: Path, reason: str) -> BadInput:
    return BadInput(
        f"cannot read a survey from {path}: {reason}",
        code="no_file",
        path=str(path),
        reason=reason,
    )
