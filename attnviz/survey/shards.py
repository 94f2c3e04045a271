"""Shards of a survey: some hundred texts each, counted alone, kept in files of their own.

In: texts and a model. Out: `Shard`s, their tallies, and their files. A shard's tally is a pure
function of its texts, its model and the versions in its name: it runs in one thread, in batches
sorted by length. The files of a folder are the checkpoint: each appears whole, by a rename.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice

import torch

from attnviz.capture.request import Request
from attnviz.capture.run import capture_request
from attnviz.models.loaded_model import LoadedModel
from attnviz.survey.counts import Count
from attnviz.survey.tally import SurveyTally

SHARD = 512  # texts
BATCH = 32  # texts that run at once, if they are short
MAX_CELLS = 1 << 20  # text × query × key of a batch
FORMAT = 3  # of the numbers; another one makes other names
Progress = Callable[[int, int], None]
SAMPLE = 64  # numbers of each parameter that the fingerprint reads


@dataclass(frozen=True)
class Shard:
    """Some texts; `first` is the place of the first among all, `number` counts shards."""

    number: int
    first: int
    texts: tuple[str, ...]


def shards(texts: Iterable[str]) -> Iterator[Shard]:
    """The texts in shards of `SHARD`."""
    rest = iter(texts)
    number = 0
    while group := tuple(islice(rest, SHARD)):
        yield Shard(number, number * SHARD, group)
        number += 1


def ignore(_n_done: int, _n_text: int) -> None:
    """The progress of a count that nobody watches."""


def tally(lm: LoadedModel, shard: Shard, progress: Progress = ignore) -> SurveyTally:
    """The tally of a shard's texts; `progress` is called with those that are done, and all."""
    ids = lm.tokenize(list(shard.texts), truncation=True, max_length=lm.max_tokens)["input_ids"]
    lengths = [len(row) for row in ids]
    count = Count(n_entry=n_entry(lm))
    with _one_thread():
        for places in batches(lengths):
            texts = [shard.texts[place] for place in places]
            numbers = [shard.first + place for place in places]
            cap = capture_request(lm, Request.of(texts, cut=True), scores=False)
            count.add(cap, numbers, texts)
            progress(len(count.texts), len(shard.texts))
    return count.tally()


def n_entry(lm: LoadedModel) -> int:
    """The size of the vocabulary, entries that were added included."""
    return len(lm.text_tokenizer())


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
    content = json.dumps([*described, *shard.texts]).encode()
    return f"shard-{hashlib.sha256(content).hexdigest()[:24]}.npz"


def batches(lengths: list[int]) -> Iterator[list[int]]:
    """The places of texts that run together: sorted by length, few where they are long."""
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
