"""The models that a visitor may open: registered ones, hub ids, folders that the operator allows.

In: the name that stands in the address or was typed. Out: the `Source` that `attnviz.load` takes.
Any visitor can type a name, so folders are open only below the directories that the operator lists
in the environment variable ATTNVIZ_MODEL_DIRS (separated as in PATH). Hub ids and folders that the
operator lists in ATTNVIZ_MODELS are chosen where the app lists its own models. Paths are resolved
first, and links inside a folder may not lead out of these directories either. The operator also
sets device and dtype: ATTNVIZ_DEVICE, ATTNVIZ_DTYPE.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from attnviz.errors import ModelNotFound
from attnviz.models.files import is_folder
from attnviz.models.registry import HUB_ID, REGISTRY, find

VARIABLE = "ATTNVIZ_MODEL_DIRS"
MODELS_VARIABLE = "ATTNVIZ_MODELS"
DEVICE_VARIABLE, DTYPE_VARIABLE = "ATTNVIZ_DEVICE", "ATTNVIZ_DTYPE"
MODEL_FILES = ("*.json", "*.txt", "*.model", "*.jinja", "*.safetensors")
MAX_ID_CHARS = 96  # of each part of a hub id, as the hub has it
QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’"}


@dataclass(frozen=True)
class Source:
    """A model to load; its repr is part of a cache key.

    `stamp` changes when the files of a folder do. `device` and `dtype` are the operator's; unset
    they are the CPU and float32, as always for the app's own small models.
    """

    name: str
    stamp: str = ""
    device: str | None = None
    dtype: str | None = None


def cleaned(name: str) -> str:
    """A pasted name without the spaces and quotation marks around it."""
    name = name.strip()
    quoted = len(name) > 1 and QUOTES.get(name[0]) == name[-1]
    return name[1:-1].strip() if quoted else name


def source(name: str) -> Source:
    """The source of a name; `ModelNotFound` for a folder that is not open to visitors."""
    if name in REGISTRY:
        return Source(name)
    if HUB_ID.fullmatch(name) and not is_folder(name):
        if any(len(part) > MAX_ID_CHARS for part in name.split("/")):
            raise ModelNotFound(
                f"{name[:MAX_ID_CHARS]}… is not a hub id: owner and name have at most"
                f" {MAX_ID_CHARS} characters each",
                code="long_hub_id",
                limit=MAX_ID_CHARS,
            )
        return _with_device(name)
    if "/" not in name and "\\" not in name:
        find(name)  # raises, and lists the names there are
    return _folder(name)


def _folder(name: str) -> Source:
    try:
        roots = [Path(part).resolve() for part in allowed_directories()]
        folder = Path(name).expanduser().resolve()
        if not _inside(folder, roots):
            raise _refused(name)
        if not folder.is_dir():
            raise ModelNotFound(
                f"there is no folder {name!r}; check how it is written",
                code="no_folder",
                folder=name,
            )
        files = sorted(file for pattern in MODEL_FILES for file in folder.glob(pattern))
        if not all(_inside(file.resolve(), roots) for file in folder.iterdir()):
            raise _refused(name)
        stamps = [(file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files]
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, no such home
        raise _refused(name) from error
    return _with_device(str(folder), repr(stamps))


def _with_device(name: str, stamp: str = "") -> Source:
    """A model that is not the app's own, on the operator's device."""
    device, dtype = (os.environ.get(name) or None for name in (DEVICE_VARIABLE, DTYPE_VARIABLE))
    return Source(name, stamp, device, dtype)


def allowed_directories() -> list[str]:
    """The directories that the operator has opened to visitors."""
    return [part for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]


def offered() -> tuple[str, ...]:
    """The models that the operator has listed, as an address names them."""
    listed = map(cleaned, os.environ.get(MODELS_VARIABLE, "").split(os.pathsep))
    return tuple(dict.fromkeys(name for name in listed if name and name not in REGISTRY))


def _inside(path: Path, roots: list[Path]) -> bool:
    return any(path.is_relative_to(root) for root in roots)


def _refused(name: str) -> ModelNotFound:
    return ModelNotFound(
        f"the folder {name!r} is not open to visitors; the operator of this app can list the"
        f" directory above it in {VARIABLE}",
        code="folder_not_allowed",
        folder=name,
        variable=VARIABLE,
    )
