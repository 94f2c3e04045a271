"""The room that a capture needs, told from its first layer, and what is free.

In: the calls of a pass, as they are recorded. Out: nothing, or `TooLarge` with both numbers before
the pass has gone on to the next layer. What a layer keeps is measured, not computed from a config;
the layers to come are the modules of the same class that have not run yet.
"""

import os
import shutil
from collections import Counter
from contextlib import suppress
from pathlib import Path

import torch
from torch import nn

from attnviz.attention import memory
from attnviz.attention.call import AttentionCall
from attnviz.capture.locate.modules import Modules
from attnviz.capture.storage import Storage
from attnviz.errors import TooLarge
from attnviz.summary import size
from attnviz.types import MIB

SMALL = MIB  # of one layer, which is not worth a question
MEMORY = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


class FreeRoom:
    """Compares what the layers to come will keep with what is free."""

    def __init__(self, modules: Modules, storage: Storage) -> None:
        self._storage = storage
        self._n_alike = modules.fact(_n_alike)
        self._n_seen: Counter[type[nn.Module]] = Counter()
        # the calls that alone are to be kept and did not run yet
        self._to_come = None if storage.only is None else dict(storage.only)
        self._small: set[tuple[object, ...]] = set()  # sizes that are known to need no question

    def require(self, module: nn.Module, call: AttentionCall) -> None:
        """Raise `TooLarge` if the layers after this one keep more than is free.

        They are taken for as large as this one.
        """
        kind = type(module)
        self._n_seen[kind] += 1
        n_more = self._n_alike[kind] - self._n_seen[kind]
        heads: list[tuple[int, ...] | None] = [None] * n_more
        if self._to_come is not None:
            self._to_come.pop(call.name, None)
            heads = list(self._to_come.values())[: max(n_more, 0)]
        sizes = kind, call.n_batch, call.n_query, call.n_key
        if not heads or sizes in self._small:
            return
        if self._bytes(call, None) < SMALL:
            self._small.add(sizes)
            return
        bytes_of = {some: self._bytes(call, some) for some in dict.fromkeys(heads)}
        needed, free = sum(bytes_of[some] for some in heads), self._free(call.output.device)
        if free is not None and needed > free:
            raise TooLarge(
                f"{call.n_query:,} tokens keep {size(max(bytes_of.values()))} in each layer,"
                f" {size(needed)} in the {len(heads)} layers to come, and {size(free)} are free;"
                ' give a shorter text, store="float16", the layers or heads that you look at as'
                " keep=, or a folder on a disk with room as offload=",
                code="run_too_large",
                found=needed // MIB,
                limit=free // MIB,
                unit="MiB",
            )

    def _bytes(self, call: AttentionCall, heads: tuple[int, ...] | None) -> int:
        """The bytes of a call, or of some of its heads, as the storage keeps them."""
        if heads is not None and heads[-1] >= call.n_heads:  # another layer may have more heads
            heads = tuple(range(min(len(heads), call.n_heads)))
        kept = call if heads is None else memory.with_heads(call, heads)
        return self._storage.nbytes(t for t in memory.tensors(kept) if t.dtype != torch.bool)

    def _free(self, device: torch.device) -> int | None:
        """The bytes that are free where calls are kept; None where nobody tells."""
        if self._storage.folder is not None:
            return shutil.disk_usage(self._storage.folder).free
        if device.type == "cuda" and self._storage.device is None:
            return torch.cuda.mem_get_info(device)[0]
        return free_memory() if device.type == "cpu" or self._storage.device else None


def _n_alike(modules: Modules) -> Counter[type[nn.Module]]:
    """The number of modules of each class."""
    return Counter(map(type, modules.values()))


def free_memory() -> int | None:
    """The bytes of main memory that this process may still take; None where nobody tells."""
    free = []
    with suppress(OSError, StopIteration, ValueError):
        lines = MEMORY.read_text(encoding="ascii").splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable:"))
        free.append(int(line.split()[1]) * 1024)
    with suppress(OSError, ValueError):  # "max" where there is no limit
        limit = int((CGROUP / "memory.max").read_text(encoding="ascii"))
        free.append(limit - int((CGROUP / "memory.current").read_text(encoding="ascii")))
    if not free and hasattr(os, "sysconf"):
        with suppress(OSError, ValueError):
            free.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES"))
    return max(0, min(free)) if free else None
