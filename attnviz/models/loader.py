"""From a model's name to a `LoadedModel`: find the files, check them, read them.

The files come from an installed package, with the hub offline, and the weights' sha256 is checked
before anything reads them. Without the package the hub id is tried instead, and the model says so
in its `notice`. Weights are safetensors only; code from a hub is never run.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import torch
from transformers import AutoModel, AutoTokenizer
from transformers.utils.logging import (
    disable_progress_bar,
    enable_progress_bar,
    is_progress_bar_enabled,
)

from attnviz.errors import ModelNotFound
from attnviz.models.loaded import LoadedModel
from attnviz.models.registry import PackagedModel, find
from attnviz.types import ModelKey

WEIGHTS = "model.safetensors"
CHUNK_BYTES = 1 << 20


def load(name: str) -> LoadedModel:
    """Load a registered model, float32 on the CPU.

    Raises `ModelNotFound` for a name that is not registered, for weights whose sha256 is not the
    expected one, and when neither the package nor the hub has the files.
    """
    entry = find(name)
    folder = packaged_folder(entry)
    if folder is not None:
        check_weights(folder / WEIGHTS, entry)
        return _read(entry, str(folder), entry.card.revision, notice=None)
    notice = (
        f"the package {entry.distribution}=={entry.version} is not installed;"
        f" {name} was loaded from the hub as {entry.card.hub_id}"
    )
    return _read(entry, entry.card.hub_id, "main", notice)


def packaged_folder(entry: PackagedModel) -> Path | None:
    """Where the installed package keeps the model; None without the package in its version."""
    try:
        installed = version(entry.distribution)
    except PackageNotFoundError:
        return None
    spec = find_spec(entry.package)
    if installed != entry.version or spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(next(iter(spec.submodule_search_locations))) / entry.folder
    return folder if (folder / WEIGHTS).is_file() else None


def check_weights(path: Path, entry: PackagedModel) -> None:
    """Raise `ModelNotFound` unless the file's sha256 is the one of the registry."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    if digest.hexdigest() != entry.sha256:
        raise ModelNotFound(
            f"the weights of {entry.card.name} at {path} have sha256 {digest.hexdigest()}, expected"
            f" {entry.sha256}; reinstall {entry.distribution}=={entry.version}",
            code="damaged_weights",
            name=entry.card.name,
            package=f"{entry.distribution}=={entry.version}",
        )


def _read(entry: PackagedModel, source: str, revision: str, notice: str | None) -> LoadedModel:
    offline = notice is None
    try:
        with _quiet():
            tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=offline)
            model = AutoModel.from_pretrained(
                source, local_files_only=offline, use_safetensors=True, dtype=torch.float32
            )
    except (OSError, ValueError) as error:
        raise ModelNotFound(
            f"{entry.card.name} could not be read from {source}: {error}. Install it with"
            f" pip install {entry.distribution}=={entry.version}",
            code="unreadable_model",
            name=entry.card.name,
            package=f"{entry.distribution}=={entry.version}",
        ) from error
    key = ModelKey(entry.card.name, revision, "float32", "cpu")
    return LoadedModel(entry.card, key, model.eval(), tokenizer, notice)


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bar on a server's terminal; put back as it was for the library's other users."""
    shown = is_progress_bar_enabled()
    disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            enable_progress_bar()  # type: ignore[no-untyped-call]
