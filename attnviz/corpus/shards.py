"""Shards of a survey: some hundred items each, counted alone, kept in files of their own.

In: texts or pictures, and a model. Out: `Shard`s, their tallies, and their files. A shard's tally
is a pure function of its items, its model and the versions in its name: it runs in one thread, in
batches sorted by length. The files of a folder are the checkpoint: each appears whole, by a rename.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice

import torch

from attnviz.corpus.counts import Count
from attnviz.corpus.items import Item, captured, content_of, lengths, n_entry, name_of
from attnviz.corpus.tally import SurveyTally
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import ignore

SHARD = 512  # items
BATCH = 32  # items that run at once, if they are short
MAX_CELLS = 1 << 20  # item × query × key of a batch
FORMAT = 3  # of the numbers; another one makes other names
Progress = Callable[[int, int], None]
SAMPLE = 64  # numbers of each parameter that the fingerprint reads


@dataclass(frozen=True)
class Shard:
    """Some items; `first` is the place of the first among all, `number` counts shards."""

    number: int
    first: int
    items: tuple[Item, ...]


def shards(items: Iterable[Item]) -> Iterator[Shard]:
    """The items in shards of `SHARD`."""
    rest = iter(items)
    number = 0
    while group := tuple(islice(rest, SHARD)):
        yield Shard(number, number * SHARD, group)
        number += 1


def tally(lm: LoadedModel, shard: Shard, progress: Progress = ignore) -> SurveyTally:
    """The tally of a shard; `progress` is called with the numbers of items done and in all."""
    count = Count(n_entry=n_entry(lm))
    with _one_thread():
        for places in batches(lengths(lm, shard.items)):
            batch = [shard.items[place] for place in places]
            numbers = [shard.first + place for place in places]
            count.add(captured(lm, batch), numbers, list(map(name_of, batch)))
            progress(len(count.texts), len(shard.items))
    return count.tally()


def fingerprint(lm: LoadedModel) -> str:
    """A short name for a model's numbers: its key, its shapes and samples of its parameters."""
    digest = hashlib.sha256(str(lm.key).encode())
    for name, tensor in lm.model.state_dict().items():
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        flat = tensor.detach().reshape(-1)
        sample = flat[:: max(1, len(flat) // SAMPLE)].cpu()
        digest.update(sample.contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:16]


def file_name(model: str, shard: Shard) -> str:
    """The name of a shard's file; `model` is its fingerprint."""
    described = [FORMAT, torch.__version__, version("transformers"), model, BATCH, shard.first]
    content = json.dumps([*described, *map(content_of, shard.items)]).encode()
    return f"shard-{hashlib.sha256(content).hexdigest()[:24]}.npz"


def batches(lengths: list[int]) -> Iterator[list[int]]:
    """The places of items that run together: sorted by length, few where they are long."""
    order = sorted(range(len(lengths)), key=lambda place: (lengths[place], place))
    batch: list[int] = []
    for place in order:
        n_cell = (len(batch) + 1) * lengths[place] ** 2
        if batch and (len(batch) == BATCH or n_cell > MAX_CELLS):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch compute in one thread: the sums of several differ in their last bits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
