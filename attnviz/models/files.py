"""Checks of a model's folder before anything reads it: complete, safe and small enough.

In: a folder. Out: nothing, or an error that names the file and says what to do. Weights are
safetensors only, because a pickle can run code when it is opened.
"""

import hashlib
import json
import os
import re
from fnmatch import fnmatch
from pathlib import Path

from safetensors import SafetensorError, safe_open

from attnviz.errors import BadInput, ModelNotFound, TooLarge
from attnviz.types import MIB

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json", "*.pt", "*.pth", "*.ckpt", "*.bin")
CHUNK_BYTES = MIB
LIMIT_VARIABLE = "ATTNVIZ_MAX_MODEL_MIB"
DEFAULT_LIMIT_MIB = 8192
CACHE_VARIABLE = "ATTNVIZ_MAX_DOWNLOADS_MIB"
DEFAULT_CACHE_MIB = 65_536  # of all models in the hub's cache
MAX_INDEX_BYTES = 32 * MIB
# the largest published model has 163 of them; each costs requests to the hub, and an open file here
MAX_SHARDS = 256
SHARD = re.compile(r"\w[\w.-]*\.safetensors")
WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")


def check_folder(folder: Path) -> None:
    """Raise `ModelNotFound` unless the folder has a config and whole safetensors weights."""
    if not (folder / CONFIG).is_file():
        raise _unusable(folder, "no_config", f"it has no {CONFIG}")
    weights = weight_files(folder)
    if not weights:
        raise without_weights(str(folder), tuple(file.name for file in folder.iterdir()))
    for file in weights:
        _check_whole(folder, file)


def without_weights(place: str, names: tuple[str, ...]) -> ModelNotFound:
    """The error for a folder, or hub id, whose files `names` have no safetensors among them."""
    pickled = sorted({name for name in names if any(fnmatch(name, form) for form in PICKLES)})
    if not pickled:
        return _unusable(place, "no_weights", f"it has no {WEIGHTS}")
    return _unusable(
        place,
        "pickle_only",
        f"its weights are pickled ({', '.join(pickled)}), which can run code; save the model again"
        " as safetensors",
    )


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a folder: one, or the shards that its index names.

    Raises `ModelNotFound` for an index that cannot be read, or that names anything but a
    safetensors file directly in the folder, and `TooLarge` for one that names too many.
    """
    if (folder / INDEX).is_file():
        names = sorted(set(weight_map(folder).values()))
        check_count(len(names), folder.name)
        return [folder / name for name in names]
    return [folder / WEIGHTS] if (folder / WEIGHTS).is_file() else []


def weight_map(folder: Path) -> dict[str, str]:
    """The shard of each tensor, as the index of a folder says."""
    index = folder / INDEX
    try:
        if index.stat().st_size > MAX_INDEX_BYTES:
            raise ValueError("it is too long")
        shards = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        is_plain = all(SHARD.fullmatch(name) for name in shards.values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _unusable(folder, "damaged_file", f"{INDEX} cannot be read") from error
    if not is_plain:
        raise _unusable(folder, "bad_index", f"{INDEX} names files that are not in the folder")
    weights: dict[str, str] = shards
    return weights


def _check_whole(folder: Path, file: Path) -> None:
    try:
        with safe_open(file, framework="numpy") as tensors:
            tensors.keys()
    except (OSError, SafetensorError) as error:
        raise _unusable(
            folder, "damaged_file", f"{file.name} is damaged or cut short ({error})"
        ) from error


def check_size(size_mib: int, name: str) -> None:
    """Raise `TooLarge` if weights of `size_mib` MiB are over the operator's limit.

    Raises `BadInput` if the operator's setting is not a whole number.
    """
    limit = setting(LIMIT_VARIABLE, DEFAULT_LIMIT_MIB)
    if size_mib > limit:
        raise TooLarge(
            f"the weights of {name} are about {size_mib} MiB and the limit is {limit} MiB;"
            f" choose a smaller model, or set {LIMIT_VARIABLE}",
            code="model_too_large",
            found=size_mib,
            limit=limit,
            unit="MiB",
        )


def check_count(n_files: int, name: str) -> None:
    """Raise `TooLarge` if the weights of a model are cut into more than `MAX_SHARDS` files."""
    if n_files > MAX_SHARDS:
        raise TooLarge(
            f"the weights of {name} are cut into {n_files} files and the limit is {MAX_SHARDS};"
            " save the model again with larger files (max_shard_size)",
            code="too_many_files",
            found=n_files,
            limit=MAX_SHARDS,
            unit="files",
        )


def setting(variable: str, default: int) -> int:
    """A number of MiB that the operator has set in an environment variable, or the default."""
    value = os.environ.get(variable, "").strip() or str(default)
    if not WHOLE_NUMBER.fullmatch(value):
        raise BadInput(
            f"the environment variable {variable} is {value!r}; give a whole number of MiB, for"
            f" example {default}",
            code="bad_setting",
            name=variable,
            asked=value,
        )
    return int(value)


def size_mib(folder: Path) -> int:
    """The size of a folder's weights on disk in MiB, close to what they take in memory."""
    return sum(file.stat().st_size for file in weight_files(folder)) // MIB


def sha256(path: Path) -> str:
    """The sha256 of a file, read in chunks."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def is_folder(name: str | Path) -> bool:
    """True if there is a folder at this path; False also for a path that is too long."""
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):
        return False


def is_panic(error: BaseException) -> bool:
    """True for the abort of a library in Rust, which is no `Exception` in Python."""
    return type(error).__name__ == "PanicException"


def first_line(error: BaseException) -> str:
    """The first line of an error's message, without the advice that may follow."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def _unusable(folder: Path | str, code: str, reason: str) -> ModelNotFound:
    return ModelNotFound(
        f"the folder {folder} is not a model that attnviz can load: {reason}",
        code=code,
        folder=str(folder),
        reason=reason,
    )
