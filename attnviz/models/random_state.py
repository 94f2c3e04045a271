"""Torch's global random state, which modules draw their first weights from.

In: a seed. Out: a block in which the state begins with that seed, and after which it is as it was.
The state belongs to the process: one thread at a time uses it here. What can be drawn from a
`torch.Generator` of its own is drawn from that instead.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import torch

LOCK = RLock()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """A block that begins with this seed, as after `torch.manual_seed`, on the processor alone."""
    with LOCK, torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield
