"""Loads a model in a server that many visitors use at once.

In: a name and the operator's device and dtype. Out: the loaded model, which `cache` keeps. torch
and transformers are imported by the first session that needs a model, one thread at a time (two
threads importing transformers at once break it), after the page has painted its frame.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import attnviz

if TYPE_CHECKING:
    from attnviz.models.loaded import LoadedModel

# one forward pass at a time per core serves many sessions better than one pass on all cores:
# with two threads, 50 users saw a 95th percentile of 981 ms instead of 214 ms
TORCH_THREADS = 1

importing = threading.Lock()


def load(
    name: str, commit: str | None = None, device: str | None = None, dtype: str | None = None
) -> "LoadedModel":
    """The loaded model; with a commit, from the files that were downloaded for it."""
    with importing, _frozen_heap():
        import torch

        torch.set_num_threads(TORCH_THREADS)
        local = commit is not None
        return attnviz.load(
            name, device=device, dtype=dtype, revision=commit, local_files_only=local
        )


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
