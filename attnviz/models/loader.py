"""From a name, a hub id, a folder or a module to a `LoadedModel`: find, check, read.

Registered models come from an installed package with the hub offline, and the sha256 of their
weights is checked before anything reads them; without the package the hub id is tried instead and
the model says so in its `notice`. Weights are safetensors only; code from a hub is never run.
"""

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import torch
from torch import nn

from attnviz.errors import BadInput, ModelNotFound
from attnviz.models import download, files, seeded
from attnviz.models.files import first_line
from attnviz.models.from_folder import cannot_load, read, wrap
from attnviz.models.loaded import LoadedModel
from attnviz.models.registry import (
    HUB_ID,
    REGISTRY,
    BuiltModel,
    EmbeddedModel,
    Entry,
    PackagedModel,
    find,
)
from attnviz.types import ModelKey

DTYPES = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
}


def load(
    source: str | Path | nn.Module,
    *,
    device: str | None = None,
    dtype: str | torch.dtype | None = None,
    revision: str | None = None,
    local_files_only: bool = False,
) -> LoadedModel:
    """Load a model by its registered name, hub id or folder, or take a module as it is.

    float32 on the CPU unless asked otherwise. `revision` is a hub's branch, tag or commit;
    `local_files_only` keeps off the network; a model that was downloaded before is also taken from
    this machine where the hub cannot be asked. Raises `ModelNotFound` for a name that is not
    registered, files that are missing, damaged, pickled or of an unknown architecture, an id that
    the hub does not have or that cannot be reached, and NaN weights; `TooLarge` for weights over
    the operator's limit; `BadInput` for a device or dtype that does not exist here.
    """
    if isinstance(source, nn.Module):
        return wrap(source)
    wanted, type_ = _device(device), _dtype(dtype)
    name = str(source)
    if name in REGISTRY:
        return _load_registered(find(name), wanted, type_)
    if Path(name).is_dir():
        folder = Path(name).resolve()
        files.check_folder(folder)
        files.check_size(files.size_mib(folder), name)
        return read(str(folder), folder.name, None, wanted, type_)
    if isinstance(source, Path) or not HUB_ID.fullmatch(name):
        return _load_registered(find(name), wanted, type_)  # raises, and lists the names there are
    return _from_hub(name, name, revision, wanted, type_, local=local_files_only)


def _from_hub(
    hub_id: str,
    name: str,
    revision: str | None,
    device: str,
    dtype: torch.dtype,
    *,
    local: bool = False,
) -> LoadedModel:
    """A hub's model, read from the very folder whose size was checked; the hub is asked once."""
    found = download.here(hub_id, revision) if local else download.fetch(hub_id, revision)
    if found is None:
        reason = f"revision {revision or 'main'} of it is not whole on this machine"
        raise cannot_load(name, reason)
    files.check_folder(found.folder)
    files.check_size(files.size_mib(found.folder), name)
    return read(str(found.folder), name, found.commit, device, dtype)


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
    return folder if (folder / files.WEIGHTS).is_file() else None


def check_weights(path: Path, entry: PackagedModel | EmbeddedModel) -> None:
    """Raise `ModelNotFound` unless the file's sha256 is the one of the registry."""
    found = files.sha256(path) if path.is_file() else "no file"
    if found != entry.sha256:
        package = "attnviz"
        if isinstance(entry, PackagedModel):
            package = f"{entry.distribution}=={entry.version}"
        raise ModelNotFound(
            f"the weights of {entry.card.name} at {path} have sha256 {found}, expected"
            f" {entry.sha256}; reinstall {package}",
            code="damaged_weights",
            name=entry.card.name,
            package=package,
        )


def _load_registered(entry: Entry, device: str, dtype: torch.dtype) -> LoadedModel:
    if isinstance(entry, BuiltModel):
        module, example = seeded.BUILDERS[entry.card.name]()
        loaded = wrap(module.to(device=device, dtype=dtype))
        loaded.example = example.to(device, dtype)
        return _registered(loaded, entry, entry.card.revision, None)
    if isinstance(entry, EmbeddedModel):
        check_weights(entry.folder / files.WEIGHTS, entry)
        loaded = read(str(entry.folder), entry.card.name, None, device, dtype)
        return _registered(loaded, entry, entry.sha256[:12], None)
    return _load_packaged(entry, device, dtype)


def _registered(
    loaded: LoadedModel, entry: Entry, revision: str, notice: str | None
) -> LoadedModel:
    loaded.card = entry.card
    loaded.key = ModelKey(entry.card.name, revision, loaded.key.dtype, loaded.key.device)
    loaded.notice = notice
    return loaded


def _load_packaged(entry: PackagedModel, device: str, dtype: torch.dtype) -> LoadedModel:
    folder = packaged_folder(entry)
    if folder is not None:
        check_weights(folder / files.WEIGHTS, entry)
        loaded = read(str(folder), entry.card.name, None, device, dtype)
        return _registered(loaded, entry, entry.card.revision, None)
    package = f"{entry.distribution}=={entry.version}"
    try:
        loaded = _from_hub(entry.card.hub_id, entry.card.name, None, device, dtype)
    except ModelNotFound as error:
        raise ModelNotFound(
            f"{entry.card.name} is not installed, and {error} Install it with"
            f" pip install {package}",
            code="unreadable_model",
            name=entry.card.name,
            package=package,
        ) from error
    notice = (
        f"the package {package} is not installed; {entry.card.name} was loaded from the hub as"
        f" {entry.card.hub_id}"
    )
    return _registered(loaded, entry, loaded.key.revision, notice)


def _device(device: str | None) -> str:
    wanted = device or "cpu"
    try:
        torch.empty(0, device=wanted)
    except (RuntimeError, AssertionError) as error:
        raise BadInput(
            f"the device {wanted!r} cannot be used here: {first_line(error)}; use 'cpu'",
            code="bad_device",
            asked=wanted,
        ) from error
    return wanted


def _dtype(dtype: str | torch.dtype | None) -> torch.dtype:
    name = "float32" if dtype is None else str(dtype).removeprefix("torch.")
    if name not in DTYPES:
        raise BadInput(
            f"dtype {name!r} is not one of {', '.join(DTYPES)}",
            code="bad_dtype",
            asked=name,
            allowed=", ".join(DTYPES),
        )
    return DTYPES[name]
