"""A device that is not the CPU, simulated, so that moving to a GPU is tested where there is none.

Inside `device()` the name "meta" stands for it. A tensor there computes on the CPU, but as on a
GPU no operation takes it together with a tensor of the CPU, and numpy does not see it. Only where
torch itself lets both meet, for indices, single numbers and copies, they may.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

NAME = "meta"
aten = torch.ops.aten
COPIES = {aten._to_copy.default, aten.copy_.default}
INDEXED = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default}
FACTORIES = {torch.tensor, torch.as_tensor, torch.asarray}  # they ask the device for no operation


class Elsewhere(Tensor):
    """A tensor on the simulated device; `here` holds its numbers."""

    here: Tensor

    @staticmethod
    def __new__(cls, here: Tensor) -> "Elsewhere":
        made: Elsewhere = Tensor._make_wrapper_subclass(
            cls,
            here.shape,
            strides=here.stride(),
            storage_offset=here.storage_offset(),
            dtype=here.dtype,
            device=torch.device(NAME),
        )
        made.here = here
        return made

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, _types: object, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        return run(func, args, kwargs or {})

    def untyped_storage(self) -> torch.UntypedStorage:
        return self.here.untyped_storage()

    def data_ptr(self) -> int:
        return self.here.data_ptr()

    def item(self) -> Any:
        return self.here.item()

    def tolist(self) -> Any:
        return self.here.tolist()

    def __bool__(self) -> bool:
        return bool(self.here)

    def __int__(self) -> int:
        return int(self.here)

    def __float__(self) -> float:
        return float(self.here)

    def __index__(self) -> int:
        return self.here.__index__()


def _here(value: Any) -> Any:
    return value.here if isinstance(value, Elsewhere) else value


def run(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """An operation, done on the CPU; its result lies where its tensors do, or where it is asked."""
    leaves = tree_leaves((args, kwargs))
    away = [of for of in leaves if isinstance(of, Elsewhere)]
    if away and func not in COPIES | INDEXED:
        met = [of for of in leaves if isinstance(of, Tensor) and not isinstance(of, Elsewhere)]
        if any(of.dim() for of in met):
            raise RuntimeError(f"Expected all tensors to be on the same device, in {func}")
    stays = isinstance(args[0], Elsewhere) if func is aten.copy_.default else bool(away)
    wanted = kwargs.get("device")
    if wanted is not None:
        stays = torch.device(wanted).type == NAME
        kwargs = {**kwargs, "device": torch.device("cpu")}
    out = func(*tree_map(_here, args), **tree_map(_here, kwargs))
    known = {id(of.here): of for of in away}  # what is changed in place stays the same tensor

    def placed(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        new = Elsewhere(value) if stays else value
        return known.get(id(value), new)

    return tree_map(placed, out)


class _Operations(TorchDispatchMode):
    """Also what makes a tensor there from none."""

    def __torch_dispatch__(
        self, func: Any, _types: object, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        return run(func, args, kwargs or {})


class _Factories(TorchFunctionMode):
    def __torch_function__(
        self, func: Callable[..., Any], _types: object, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if func in FACTORIES and kwargs.get("device") is not None:
            wanted = kwargs.pop("device")
            return func(*args, **kwargs).to(wanted)
        return func(*args, **kwargs)


def enter() -> None:
    """Know the simulated device in this thread until it ends."""
    _Operations().__enter__()
    _Factories().__enter__()


@contextmanager
def device() -> Iterator[str]:
    """The simulated device's name, which torch knows in this thread until the block ends."""
    with _Operations(), _Factories(), torch.no_grad():
        yield NAME
