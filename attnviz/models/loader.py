"""From a name, a hub id, a folder or a module to a `LoadedModel`: find, check, read.

Registered models come from an installed package with the hub offline, and the sha256 of their
weights is checked before anything reads them, also for a single tensor (`embedded_tensor`). Without
the package the hub id is tried instead, and the model's `notice` says so. Weights are safetensors
only; code from a hub is never run.
"""

import os
import weakref
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from huggingface_hub import constants
from jaxtyping import Float32
from safetensors import safe_open
from torch import nn
from transformers import PreTrainedTokenizerBase

from attnviz.errors import (
    AttnVizError,
    BadInput,
    ModelNotFound,
    bad_argument,
    require_package,
)
from attnviz.models import download, files, rehearsal, seeded_models
from attnviz.models.files import first_line
from attnviz.models.from_folder import Settings, Spread, add_parts, cannot_load, read, wrap
from attnviz.models.loaded_model import LoadedModel, Processor
from attnviz.models.ranks import together
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
    tokenizer: PreTrainedTokenizerBase | None = None,
    processor: Processor | None = None,
    device: str | None = None,
    dtype: str | torch.dtype | None = None,
    revision: str | None = None,
    local_files_only: bool = False,
    device_map: Literal["auto"] | Mapping[str, int | str] | None = None,
    max_memory: Mapping[int | str, int | str] | None = None,
    offload_folder: str | Path | None = None,
    tensor_parallel: bool = False,
) -> LoadedModel:
    """Load a model by its registered name, hub id or folder, or take a module as it is.

    Parameters:

    - `source`: a name of `attnviz.models()`, a hub id, a folder, or a module. A model that was
      downloaded before is also used if the hub cannot be reached.
    - `tokenizer`, `processor`: a module of transformers needs the one to read texts, the other for
      pictures or sound; either also replaces the one that a folder or hub model brings.
    - `device`, `dtype`: where the weights are and their type; the CPU and float32 if not given.
    - `revision`: a hub's branch, tag or commit. `local_files_only` never uses the network.
    - `device_map`: "auto", or a device, "cpu" or "disk" for each part, for a model that one device
      does not hold; `max_memory` bounds what each holds, such as {0: "20GIB", "cpu": "60GIB"}, and
      `offload_folder` takes what is on disk. The operator's limit does not count then. These need
      the extra `spread`.

    Returns a `LoadedModel`: the module with its tokenizer, under one lock.

    `tensor_parallel` is for a script that `torchrun --nproc-per-node N script.py` started: each
    process loads a part of the model, by transformers' plan, or has it in `source` already. On the
    first one the model is as if it were whole; the others take part in its passes and end with it:
    for them this call raises `SystemExit`, so that nothing behind it runs twice.

    Raises `ModelNotFound` for an unknown name, for a folder that does not exist, for files that are
    missing, damaged, pickled or of an unknown architecture, for a hub id that does not exist or
    cannot be reached, and for NaN weights; `TooLarge` for weights over the operator's limit;
    `BadInput` for a device or dtype that does not exist, and for an argument that does not go with
    the source, such as `device=` with a module; `MissingExtra` for `device_map` without accelerate.

    Example:

    >>> attnviz.load("stories")
    LoadedModel(stories@a6021ce06046/float32/cpu, decoder, 4 layers × 4 heads, 1,224,288 parameters)
    """
    if isinstance(source, nn.Module):
        given = {"device": device, "dtype": dtype, "revision": revision, "device_map": device_map}
        _require_unused("a module in memory", **given)
        loaded = wrap(source)
    else:
        if tensor_parallel:
            _require_processes(device=device, device_map=device_map)
        spread = _spread(device, device_map, max_memory, offload_folder)
        settings = Settings(
            _device(device), _dtype(dtype), spread=spread, tensor_parallel=tensor_parallel
        )
        loaded = _loaded(source, settings, revision, local=local_files_only)
    if tokenizer is not None or processor is not None:
        add_parts(loaded, tokenizer, processor)
    if tensor_parallel:
        together(loaded.model)
    return loaded


def _require_processes(**elsewhere: object) -> None:
    """Raise `BadInput` outside of torchrun, or for an argument that says where else parts go."""
    _require_unused("a model in parts on several processes", **elsewhere)
    require_package(
        "accelerate", "load(tensor_parallel=True)", "spread"
    )  # transformers asks for it
    if "WORLD_SIZE" not in os.environ:
        raise bad_argument(
            "tensor_parallel=True is for a script that `torchrun --nproc-per-node N script.py`"
            ' started; in one process, device_map="auto" spreads a model over devices and memory',
            name="tensor_parallel",
            found="True",
            allowed="False",
        )


def _spread(
    device: str | None,
    device_map: Literal["auto"] | Mapping[str, int | str] | None,
    max_memory: Mapping[int | str, int | str] | None,
    offload_folder: str | Path | None,
) -> Spread | None:
    """Where the parts of a model go; None for one device."""
    if device_map is None:
        _require_unused(
            "a model on one device", max_memory=max_memory, offload_folder=offload_folder
        )
        return None
    _require_unused("a model with device_map=", device=device)
    require_package("accelerate", "load(device_map=)", "spread")
    folder = None if offload_folder is None else Path(offload_folder)
    return Spread(device_map, max_memory, folder)


def load_foreign(
    name: str,
    within: Iterable[Path],
    *,
    device: str | None = None,
    dtype: str | None = None,
    revision: str | None = None,
) -> LoadedModel:
    """Load a hub id that was downloaded, or a folder, which anyone may have written.

    Its files must really lie in the directories `within`, or in the hub's cache. Its config and
    tokenizer are first read by a child process with limits (`rehearsal`), and so is each text that
    its tokenizer gets. Raises as `load` does, and `ModelNotFound` if the child failed.
    """
    process = rehearsal.Rehearsal()
    directories = (*within, Path(constants.HF_HUB_CACHE))
    inside = tuple(directory.resolve() for directory in directories)
    settings = Settings(_device(device), _dtype(dtype), inside, process.open)
    try:
        loaded = _loaded(name, settings, revision, local=True)
    except BaseException:
        process.close()
        raise
    loaded.rehearse = process.tokenize
    weakref.finalize(loaded, process.close)
    return loaded


def _loaded(
    source: str | Path, settings: Settings, revision: str | None, *, local: bool
) -> LoadedModel:
    if not isinstance(source, str | Path):
        raise BadInput(
            f"there is no model in {type(source).__name__}; give a registered name, a hub id, a"
            " folder or a torch.nn.Module",
            code="not_a_model",
            found=type(source).__name__,
        )
    name, folder = str(source), _folder(source)
    if folder is None and HUB_ID.fullmatch(name):
        return _from_hub(name, name, revision, settings, local=local)
    _require_unused(f"the model {name}, which is on this machine,", revision=revision)
    if folder is not None:
        files.check_folder(folder)
        if settings.spread is None:
            files.check_size(files.size_mib(folder), name)
        return read(folder, folder.name, None, settings)
    return _load_registered(find(name), settings, local=local)


def _require_unused(source: str, **arguments: object) -> None:
    """Raise `BadInput` for arguments that mean nothing for a source."""
    names = [f"{name}=" for name, value in arguments.items() if value is not None]
    if names:
        raise BadInput(
            f"load() was given {' and '.join(names)}, which {source} does not take; leave it out,"
            " and move or convert a module with .to()",
            code="unused_argument",
            argument=", ".join(names),
        )


def _folder(source: str | Path) -> Path | None:
    """The folder that a source names; None if it is a registered name or a hub id.

    Raises `ModelNotFound` for a path at which there is no folder.
    """
    name = str(source)
    is_path = isinstance(source, Path) or name.startswith((".", "~")) or Path(name).is_absolute()
    if not is_path and (name in REGISTRY or not files.is_folder(name)):
        return None
    try:
        folder = Path(name).expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:  # no such home, a loop of links, a NUL
        raise _no_folder(name, first_line(error)) from error
    if not files.is_folder(folder):
        raise _no_folder(name, "that is a file" if folder.is_file() else f"{folder} does not exist")
    return folder


def _no_folder(name: str, reason: str) -> ModelNotFound:
    return ModelNotFound(
        f"there is no folder {name!r}: {reason}; give the folder that save_pretrained() wrote, a"
        " registered name or a hub id",
        code="no_folder",
        folder=name,
    )


def _from_hub(
    hub_id: str,
    name: str,
    revision: str | None,
    settings: Settings,
    *,
    local: bool = False,
) -> LoadedModel:
    """A hub's model, read from the very folder whose size was checked; the hub is asked once."""
    snapshot = download.here(hub_id, revision) if local else download.fetch(hub_id, revision)
    if snapshot is None:
        reason = f"revision {revision or 'main'} of it is not complete on this machine"
        raise cannot_load(name, reason)
    try:
        files.check_folder(snapshot.folder)
        if settings.spread is None:
            files.check_size(files.size_mib(snapshot.folder), name)
        return read(snapshot.folder, name, snapshot.commit, settings)
    except AttnVizError as error:  # nobody asked for the place in the cache
        raise error.worded(str(snapshot.folder), hub_id) from error


def packaged_folder(entry: PackagedModel) -> Path | None:
    """The folder in which the installed package keeps the model; None without that version."""
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
    """Raise `ModelNotFound` unless the file's sha256 is the one in the registry."""
    digest = files.sha256(path) if path.is_file() else "no file"
    if digest != entry.sha256:
        package = "attnviz"
        if isinstance(entry, PackagedModel):
            package = f"{entry.distribution}=={entry.version}"
        raise ModelNotFound(
            f"the weights of {entry.card.name} at {path} have sha256 {digest}, expected"
            f" {entry.sha256}; reinstall {package}",
            code="damaged_weights",
            name=entry.card.name,
            package=package,
        )


def _load_registered(entry: Entry, settings: Settings, *, local: bool) -> LoadedModel:
    if isinstance(entry, BuiltModel):
        _require_unused(f"the model {entry.card.name}", device_map=settings.spread)
        module, example = seeded_models.BUILDERS[entry.card.name]()
        loaded = wrap(module.to(device=settings.device, dtype=settings.dtype))
        loaded.example = example.to(settings.device, settings.dtype)
        return _registered(loaded, entry, entry.card.revision, None)
    if isinstance(entry, EmbeddedModel):
        check_weights(entry.folder / files.WEIGHTS, entry)
        loaded = read(entry.folder, entry.card.name, None, settings)
        return _registered(loaded, entry, entry.sha256[:12], None)
    return _load_packaged(entry, settings, local=local)


def _registered(
    loaded: LoadedModel, entry: Entry, revision: str, notice: str | None
) -> LoadedModel:
    loaded.card = entry.card
    loaded.key = ModelKey(entry.card.name, revision, loaded.key.dtype, loaded.key.device)
    loaded.notice = notice
    return loaded


def _load_packaged(entry: PackagedModel, settings: Settings, *, local: bool) -> LoadedModel:
    folder = packaged_folder(entry)
    if folder is not None:
        check_weights(folder / files.WEIGHTS, entry)
        loaded = read(folder, entry.card.name, None, settings)
        return _registered(loaded, entry, entry.card.revision, None)
    package = f"{entry.distribution}=={entry.version}"
    try:
        loaded = _from_hub(entry.card.hub_id, entry.card.name, None, settings, local=local)
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
    place = device or "cpu"
    try:
        torch.empty(0, device=place)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise BadInput(
            f"the device {place!r} cannot be used here: {first_line(error)}; use 'cpu'",
            code="bad_device",
            asked=str(place),
        ) from error
    return str(place)


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


def embedded_tensor(model: str, name: str) -> Float32[np.ndarray, "..."]:
    """The tensor `name` of an embedded model; raises `ModelNotFound` if there is none."""
    entry = find(model)
    if not isinstance(entry, EmbeddedModel):
        raise ModelNotFound(
            f"{model} has no weights file here; only embedded models do",
            code="no_weights",
            folder=model,
        )
    path = entry.folder / files.WEIGHTS
    check_weights(path, entry)
    with safe_open(path, framework="numpy") as tensors:
        known = sorted(tensors.keys())
        if name not in known:
            raise ModelNotFound(
                f"{model} has no tensor {name!r}; it has {', '.join(known)}",
                code="no_weights",
                folder=model,
            )
        values: np.ndarray = tensors.get_tensor(name).astype(np.float32)
    return values
