"""The room that a capture needs, told from its first layer, and what is free.

In: the calls of a pass, as they are recorded. Out: nothing, or `TooLarge` with both numbers before
the pass has gone on to the next layer. What a layer keeps is measured, not computed from a config;
the layers to come are the modules of the same class in the same stack that have not run yet. What
they share counts once: what keys and values of cross-attention are made of, and a bias, until three
layers had one each. A mask, which the model has anyway, does not count.
"""

import os
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

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


_Kind = tuple[type[nn.Module], str]  # a class, and the name of a module without its numbers
_Heads = tuple[int, ...] | None  # of a call that are kept; None for all
_NUMBER = re.compile(r"[0-9]+")


@dataclass
class _Alike:
    """Modules of one kind: those that ran, and what is known of their calls, by number in a module.

    `needed` is what the calls to come keep that are like those of the newest module so far.
    """

    ran: set[str] = field(default_factory=set)
    needed: int = 0
    biases: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    absent: dict[int, dict[str, str]] = field(default_factory=dict)
    places: set[int] = field(default_factory=set)  # of what the newest module keeps so far
    kept: set[_Heads] = field(default_factory=set)


class FreeRoom:
    """Compares what the layers to come will keep with what is free."""

    def __init__(self, modules: Modules, storage: Storage) -> None:
        self._storage = storage
        self._kinds = modules.fact(_kinds)
        self._n_alike = modules.fact(_n_alike)
        self._alike: defaultdict[_Kind, _Alike] = defaultdict(_Alike)
        self._small: set[tuple[object, ...]] = set()  # sizes that are known to need no question

    def require(self, module: nn.Module, call: AttentionCall) -> None:
        """Raise `TooLarge` if the layers after this one keep more than is free.

        They are taken for as large as this one.
        """
        kind = self._kinds.get(call.module, (type(module), call.module))
        self._alike[kind].ran.add(call.module)
        sizes = kind, call.n_batch, call.n_query, call.n_key
        if sizes in self._small:
            return
        n_more = self._n_to_come(kind)
        if n_more <= 0:
            return
        if self._storage.nbytes(_counted(call)) < SMALL:
            self._small.add(sizes)
            return
        needed, free = self.needed(kind, call, n_more), self._free(call.output.device)
        if free is not None and needed > free:
            raise TooLarge(
                f"{call.n_query:,} tokens keep {size(needed)} in the {n_more} layers to come, and"
                f' {size(free)} are free; give a shorter text, store="float16", the layers or heads'
                " that you look at as keep=, or a folder on a disk with room as offload=",
                code="run_too_large",
                found=needed // MIB,
                limit=free // MIB,
                unit="MiB",
            )

    def needed(self, kind: _Kind, call: AttentionCall, n_more: int) -> int:
        """The bytes that layers of a kind will keep after the one that a call belongs to."""
        alike = self._alike[kind]
        biases = alike.biases[call.index]
        biases += map(_place, _biases(call))
        is_shared = len(set(biases[-3:])) < 3
        # W_O runs later: one that was not found in the last layer will not be found in this one
        has_out = "projected" not in alike.absent.get(call.index, {})
        alike.absent[call.index] = call.absent
        if self._storage.keeps(call):
            alike.kept.add(self._storage.heads_of(call))
        heads = self._heads_to_come(kind, call.index, n_more)
        if call.index == 0:
            alike.needed = 0
            alike.places.clear()
        of_all = _read_by_all(call)
        alike.needed += self._storage.nbytes(of_all) if heads and not alike.kept else 0
        for some, count in Counter(heads).items():
            kept = self._with_heads(call, some)
            bias = [b for b in _biases(kept) if is_shared]
            known = alike.places.union(_place(tensor) for tensor in (*of_all, *bias))
            own = [tensor for tensor in _counted(kept) if _place(tensor) not in known]
            of_w_o = _of_w_o(call) if some is None and has_out else 0
            in_layer = self._storage.nbytes(own)
            in_layer += of_w_o * self._storage.number_bytes(call.output)
            alike.needed += count * in_layer
            alike.needed += 0 if some in alike.kept else self._storage.nbytes(bias)
        alike.places.update(map(_place, _counted(call)))
        return alike.needed

    def _n_to_come(self, kind: _Kind) -> int:
        """The number of modules of a kind that have not run yet and are to be kept."""
        if self._storage.only is None:
            return self._n_alike[kind] - len(self._alike[kind].ran)
        return len({module for module, _, _ in self._kept_to_come(kind)})

    def _heads_to_come(self, kind: _Kind, index: int, n_more: int) -> list[_Heads]:
        """The heads to keep of each call with this number in the modules of a kind to come."""
        if self._storage.only is None:
            return [None] * n_more
        return [heads for _, number, heads in self._kept_to_come(kind) if number == index]

    def _kept_to_come(self, kind: _Kind) -> Iterator[tuple[str, int, _Heads]]:
        """The module, number and heads of each call that is to be kept, of modules to come."""
        for name, heads in (self._storage.only or {}).items():
            module, _, number = name.rpartition("#")
            if _NUMBER.sub("", module) == kind[1] and module not in self._alike[kind].ran:
                yield module, int(number), heads

    def _with_heads(self, call: AttentionCall, heads: _Heads) -> AttentionCall:
        """The call with such heads as another layer keeps, which may have more."""
        if heads is None:
            return call
        fits = heads[-1] < call.n_heads
        return memory.with_heads(
            call, heads if fits else tuple(range(min(len(heads), call.n_heads)))
        )

    def _free(self, device: torch.device) -> int | None:
        """The bytes that are free where calls are kept; None where nobody tells."""
        if self._storage.folder is not None:
            return shutil.disk_usage(self._storage.folder).free
        if device.type == "cuda" and self._storage.device is None:
            return torch.cuda.mem_get_info(device)[0]
        return free_memory() if device.type == "cpu" or self._storage.device else None


def _counted(call: AttentionCall) -> list[Tensor]:
    """The tensors that a call keeps, masks aside."""
    return [tensor for tensor in memory.tensors(call) if tensor.dtype != torch.bool]


def _place(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _biases(call: AttentionCall) -> list[Tensor]:
    bias = getattr(call.inputs, "bias", None)
    return [] if bias is None else [bias]


def _read_by_all(call: AttentionCall) -> list[Tensor]:
    """The other stack's states, which the keys and values of every layer are made of."""
    if call.kind != "cross" or call.row_step > 1:
        return []
    return [call.projections[name].input for name in "kv" if name in call.projections]


def _of_w_o(call: AttentionCall) -> int:
    """The numbers that are kept of W_O, which is yet to run and writes as much as W_Q reads."""
    if "out" in call.projections or "q" not in call.projections:
        return 0
    n_batch, n_row = call.output.shape[:2]
    written = n_batch * n_row * call.projections["q"].input.shape[-1]
    return written + (call.output.numel() if call.row_step > 1 else 0)


def _kinds(modules: Modules) -> dict[str, _Kind]:
    """The kind of each module, by its name."""
    return {name: (type(module), _NUMBER.sub("", name)) for name, module in modules.items()}


def _n_alike(modules: Modules) -> Counter[_Kind]:
    """The number of modules of each kind."""
    return Counter(modules.fact(_kinds).values())


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
