"""Loads a model in a server that many visitors use at once.

In: a model's source: its name, and the operator's device and dtype. Out: the loaded model, which is
kept; the least recently used one goes. torch and transformers are imported by the first session
that needs a model, one thread at a time (two threads importing transformers at once break it),
after the page has painted its frame.
"""

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

import attnviz
from attnviz.app.server import sources, turns
from attnviz.app.server.shared import forget_of_models, shared
from attnviz.app.server.sources import Source
from attnviz.errors import ModelNotFound
from attnviz.models.files import is_folder
from attnviz.models.registry import HUB_ID, REGISTRY

if TYPE_CHECKING:
    from attnviz.models.download import Progress
    from attnviz.models.loaded_model import LoadedModel

MAX_MODELS = 2
MAX_OWN_MODELS, MAX_OWN_MIB = 8, 100  # all eight of the app take 100 MiB together

# one forward pass at a time per core serves many sessions better than one pass on all cores:
# with two threads, 50 users saw a 95th percentile of 564 to 1,500 ms instead of 300 ms
TORCH_THREADS = 1
OMP_VARIABLE = "OMP_NUM_THREADS"

importing = threading.Lock()
_imported = threading.Event()
# others than that: a visitor's model that takes long to load holds up no lesson
_loading, _loading_own = threading.Lock(), threading.Lock()
_in_memory: "WeakSet[LoadedModel]" = WeakSet()
# the hub models that were downloaded while this server ran, and the commit of each
_downloaded: dict[str, str] = {}


def model(source: Source) -> "LoadedModel":
    """The loaded model; the first call takes seconds. The least recently used one goes.

    The app's own models are small and stay, so that a lesson's cards need not load them anew.
    """
    if is_own(source):
        return _own_model(source.name)
    commit = _downloaded.get(source.name)
    return turns.in_turn(f"{source} {commit}", partial(_model, source, commit))


def is_loaded(source: Source) -> bool:
    """True if nobody has to wait for the model."""
    if is_own(source):
        return _own_model.keeps(source.name)
    return _model.keeps(source, _downloaded.get(source.name))


def is_own(source: Source) -> bool:
    """True for the app's own small models."""
    return source.name in REGISTRY and REGISTRY[source.name].card.size_mib <= MAX_OWN_MIB


@shared(most=MAX_MODELS, on_release=forget_of_models)
def _model(source: Source, commit: str | None) -> "LoadedModel":
    try:
        return load(source.name, commit, source.device, source.dtype)
    except ModelNotFound:
        _downloaded.pop(source.name, None)  # its files may be gone: fetch them when asked again
        raise


@shared(most=MAX_OWN_MODELS, on_release=forget_of_models)
def _own_model(name: str) -> "LoadedModel":
    return load(name)


def is_downloaded(name: str) -> bool:
    """True for a hub model that was downloaded while this server ran."""
    return name in _downloaded


def download(name: str, progress: "Progress") -> None:
    """Download a hub model, which is loaded from these files from now on; reports `progress`."""
    with importing:
        from attnviz.models.download import fetch
    _downloaded[name] = fetch(name, None, progress).commit


def load(
    name: str, commit: str | None = None, device: str | None = None, dtype: str | None = None
) -> "LoadedModel":
    """The loaded model; with a commit, from the files that were downloaded for it.

    One that is not the app's own is hostile input: a child process reads it first.
    """
    import_libraries()
    with _loading_own if name in REGISTRY else _loading, _frozen_heap():
        loaded = _load(name, commit, device, dtype)
    _in_memory.add(loaded)
    return loaded


def n_in_memory() -> int:
    """The number of loaded models that something still holds."""
    return len(_in_memory)


def _load(name: str, commit: str | None, device: str | None, dtype: str | None) -> "LoadedModel":
    if name in REGISTRY:
        return attnviz.load(name, device=device, dtype=dtype)
    if commit is None and HUB_ID.fullmatch(name) and not is_folder(name):
        from attnviz.models.download import fetch

        commit = fetch(name).commit  # its files are downloaded if they are not on this machine
    from attnviz.models.loader import load_foreign

    within = map(Path, sources.allowed_directories())
    return load_foreign(name, within, device=device, dtype=dtype, revision=commit)


def are_imported() -> bool:
    """True once torch and transformers are there, so that nobody waits for them."""
    return _imported.is_set()


def import_libraries() -> None:
    """Import torch and transformers, one thread at a time.

    torch's own setting reaches the libraries below it only in the thread that makes it, and each
    page runs in a new thread; OpenMP reads the variable when torch is imported, for all threads.
    """
    with importing:
        os.environ.setdefault(OMP_VARIABLE, str(TORCH_THREADS))
        import torch

        import attnviz.capture.run
        import attnviz.models.from_folder  # noqa: F401 - it imports transformers

        torch.set_num_threads(TORCH_THREADS)
    _imported.set()


@contextmanager
def _frozen_heap() -> Iterator[None]:
    """Keep the garbage collector from walking what the block makes.

    A full collection walks every object of torch and transformers, 0.2 s of a stalled server
    after each; frozen objects are not walked. While modules are imported, collections find nothing
    and cost a fifth of the time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
    gc.unfreeze()  # or a model that was dropped since would stay for good
    gc.collect()
    gc.freeze()
