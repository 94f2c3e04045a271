"""Loads a model in a server that many visitors use at once.

In: a name and the operator's device and dtype. Out: the loaded model, which `cache` keeps. torch
and transformers are imported by the first session that needs a model, one thread at a time (two
threads importing transformers at once break it), after the page has painted its frame.
"""

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

import attnviz
from attnviz.models.files import is_folder
from attnviz.models.registry import HUB_ID, REGISTRY
from attnviz.ui.server import sources

if TYPE_CHECKING:
    from attnviz.models.loaded_model import LoadedModel

# one forward pass at a time per core serves many sessions better than one pass on all cores:
# with two threads, 50 users saw a 95th percentile of 564 to 1,500 ms instead of 300 ms
TORCH_THREADS = 1
OMP_VARIABLE = "OMP_NUM_THREADS"

importing = threading.Lock()
# others than that: a visitor's model that takes long to load holds up no lesson
_loading, _loading_own = threading.Lock(), threading.Lock()
_in_memory: "WeakSet[LoadedModel]" = WeakSet()


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
        commit = _downloaded_commit(name)
    from attnviz.models.loader import load_foreign

    within = map(Path, sources.allowed_directories())
    return load_foreign(name, within, device=device, dtype=dtype, revision=commit)


def _downloaded_commit(name: str) -> str:
    """The commit of a hub model's files, which are downloaded if they are not on this machine."""
    from attnviz.models.download import fetch

    return fetch(name).commit


def import_libraries() -> None:
    """Import torch and transformers, one thread at a time.

    torch's own setting reaches the libraries below it only in the thread that makes it, and each
    page runs in a new thread; OpenMP reads the variable when torch is imported, for all threads.
    """
    with importing:
        os.environ.setdefault(OMP_VARIABLE, str(TORCH_THREADS))
        import torch

        import attnviz.models.from_folder  # noqa: F401 - it imports transformers

        torch.set_num_threads(TORCH_THREADS)


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
