"""Tallies and surveys as files: arrays in an .npz, without pickle, written whole or not at all.

In: a `SurveyTally` or a `Survey`. Out: a file, and back. Tickets are not stored, as they follow
from the texts. What is read is checked before it is used: names, types and shapes, and the size
that it unpacks to.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from attnviz.errors import BadInput
from attnviz.survey.result import Survey
from attnviz.survey.tally import NO_TICKET, SurveyTally, WeightSums, ticket
from attnviz.types import HeadId, ModelKey

MAX_BYTES = 4 << 30  # of a file, unpacked
LEVEL = 6  # of the compression
WEIGHED = ("received", "pairs")
NUMBERS = ("n_entry", "n_text", "n_token")
NO_ARRAYS = (*WEIGHED, *NUMBERS, "texts", "ticket")
ARRAYS = tuple(entry.name for entry in fields(SurveyTally) if entry.name not in NO_ARRAYS)
Arrays = Mapping[str, np.ndarray]
Described = dict[str, Any]  # from JSON: checked where it is used


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
    arrays, described = _read(path)
    return _tally(path, arrays, described)


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
    arrays, described = _read(path, max_bytes)
    tally = _tally(path, arrays, described)
    try:
        model = ModelKey(*map(str, described["model"]))
        heads = tuple(HeadId.parse(name) for name in described["heads"])
        labels = {int(entry): str(label) for entry, label in described["labels"].items()}
    except (KeyError, TypeError, ValueError, AttributeError, BadInput) as error:
        raise _damaged(path, "it is no survey") from error
    if len(heads) != tally.n_head:
        raise _damaged(path, f"it names {len(heads)} heads and has numbers of {tally.n_head}")
    return Survey(model, heads, tally, labels)


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
        for name, array in {**arrays, "described": np.frombuffer(content, np.uint8)}.items():
            part = io.BytesIO()
            np.lib.format.write_array(part, np.ascontiguousarray(array), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy")
            archive.writestr(entry, part.getvalue(), zipfile.ZIP_DEFLATED, level)
    return file.getvalue()


def _read(path: Path, max_bytes: int = MAX_BYTES) -> tuple[dict[str, np.ndarray], Described]:
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > max_bytes:
                raise _damaged(path, f"it unpacks to more than {max_bytes >> 20} MiB")
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        described = json.loads(arrays.pop("described").tobytes())
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise _damaged(path, "it is no archive of numbers") from error
    if not isinstance(described, dict):
        raise _damaged(path, "it does not say what it is")
    return arrays, described


def _tally(path: Path, arrays: Arrays, described: Described) -> SurveyTally:
    try:
        numbers = {name: int(described[name]) for name in NUMBERS}
        texts = dict(
            sorted((int(number), str(text)) for number, text in described["texts"].items())
        )
        n_layer, n_head = arrays["even"].shape[1], arrays["values"].shape[1]
        weighed = {
            name: WeightSums(
                *(arrays[f"{name}.{column}"] for column in ("code", "weight", "count"))
            )
            for name in WEIGHED
        }
        found = {name: arrays[name] for name in ARRAYS}
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise _damaged(path, f"it lacks {error}") from error
    wanted = SurveyTally.empty(n_layer, n_head, numbers["n_entry"])
    for name, array in found.items():
        like = getattr(wanted, name)
        if (array.shape, array.dtype) != (like.shape, like.dtype):
            raise _damaged(path, f"{name} has the shape {array.shape} and type {array.dtype}")
    for name, columns in weighed.items():
        shapes = {(column.shape, str(column.dtype)) for column in vars(columns).values()}
        if shapes != {((len(columns.code),), "int64")}:
            raise _damaged(path, f"{name} has columns of different lengths or types")
    parts: dict[str, Any] = {**numbers, **found, **weighed}
    return SurveyTally(**parts, texts=texts, ticket=_tickets(path, found["example"], texts))


def _tickets(path: Path, examples: np.ndarray, texts: Mapping[int, str]) -> np.ndarray:
    """The tickets of the examples, computed from their texts again."""
    numbers, place = np.unique(examples, return_inverse=True)
    try:
        drawn = [NO_TICKET if number < 0 else ticket(texts[number]) for number in numbers.tolist()]
    except KeyError as error:
        raise _damaged(path, f"it lacks text {error}") from error
    return np.array(drawn, dtype=np.uint64)[place].reshape(examples.shape)


def _damaged(path: Path, reason: str) -> BadInput:
    return BadInput(
        f"cannot read a survey from {path}: {reason}",
        code="no_file",
        path=str(path),
        reason=reason,
    )
