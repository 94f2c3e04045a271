"""A linear layer that ran while a model was recorded, and the memory that tensors share.

In: tensors and modules of one forward pass. Out: a `LinearRun`, the address of the memory of a
tensor and all its views, and whether the weight of a layer can be read as a matrix.
"""

from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from attnviz.attention.called_layer import CalledLayer
from attnviz.attention.projection import Projection, WrittenLayer
from attnviz.models.ranks import is_part

NO_MEMORY = 0
KEPT_COPIES = 4  # of what layers read: queries of a text, and the states that all its layers read


class LinearRun:
    """A layer that ran: its dotted name, its input and its output.

    `input_version` and `output_version` tell a later change in place, `storage` is the address of
    its output's memory and `read_storage` of its input's. `is_plain` is what the function of that
    name says of the module, `layer` its weight where that was read before. One is made at each run
    of each layer, so that it is no dataclass: these are slow to make.
    """

    __slots__ = (
        *("name", "module", "input", "output", "is_plain"),
        *("input_version", "output_version", "storage", "read_storage", "_layer"),
    )

    def __init__(
        self,
        name: str,
        module: nn.Module,
        read: Tensor,
        wrote: Tensor,
        memory: int,
        *,
        is_plain: bool = False,
        layer: WrittenLayer | None = None,
    ) -> None:
        self.name, self.module, self.is_plain = name, module, is_plain
        # the model may give the same tensor another shape in place, which no counter tells
        self.input, self.output = read.detach(), wrote.detach()
        self.input_version, self.output_version = version_of(read), version_of(wrote)
        self.storage, self.read_storage = storage_of(wrote), memory
        self._layer: WrittenLayer | CalledLayer | None = layer

    @property
    def layer(self) -> WrittenLayer | CalledLayer:
        """Its weight if that can be read, else the layer as calling it shows it."""
        if self._layer is None:
            self._layer = self._read_layer()
        return self._layer

    def _read_layer(self) -> WrittenLayer | CalledLayer:
        module = self.module
        # torch's `__getattr__` searches for a weight as long as a small layer runs
        own: Any = module._parameters if self.is_plain else {}
        if "weight" in own and own["weight"].layout is torch.strided:
            weight, bias = own["weight"], own["bias"]
        elif can_be_read(module):
            weight, bias = module.weight, module.bias
        else:
            return CalledLayer.as_it_runs(module, self.input)
        return written_layer(module, weight, bias)

    @property
    def has_its_output(self) -> bool:
        """True unless its output was changed in place since it ran."""
        return version_of(self.output) == self.output_version

    @property
    def is_untouched(self) -> bool:
        """True unless its input or its output was changed in place since it ran."""
        is_read_whole = version_of(self.input) == self.input_version
        return is_read_whole and version_of(self.output) == self.output_version

    def projection(
        self,
        starts: tuple[int, ...],
        *,
        turned: bool = False,
        factor: float = 1.0,
        output: Tensor | None = None,
    ) -> Projection:
        """The layer as a projection; `starts` has the first column of each head.

        `output` is a copy of what it wrote, if that is kept instead.
        """
        output = self.output if output is None else output
        return Projection(self.name, self.layer, self.input, output, starts, turned, factor)


@dataclass(frozen=True, eq=False)
class TensorState:
    """A tensor that is kept, with what tells a later change in place.

    That is the number of changes so far; where torch counts none, in inference mode and below the
    graph of gradients, a sum in which each place has a weight of its own: a plain one is 0 before
    and after for a normalised tensor that is halved, and the same for one that is rolled.
    """

    tensor: Tensor
    version: int | None
    total: Tensor | None

    @classmethod
    def of(cls, tensor: Tensor, *, is_counted: bool) -> "TensorState":
        """The state of a tensor now."""
        version = version_of(tensor) if is_counted else None
        return cls(tensor, version, _weighted_sum(tensor) if version is None else None)

    def holds(self) -> bool:
        """True if the tensor is still the same; two sums of NaN are the same."""
        if self.total is None:
            return version_of(self.tensor) == self.version
        total = _weighted_sum(self.tensor)
        return torch.equal(torch.nan_to_num(total), torch.nan_to_num(self.total))


@torch.no_grad()
def _weighted_sum(tensor: Tensor) -> Tensor:
    """A sum with a fixed random weight for each column and each row."""
    if tensor.dim() == 0:
        return tensor.float()
    rows = (tensor.float() * _places(tensor.shape[-1]).to(tensor.device)).sum(-1).flatten()
    return (rows * _places(len(rows)).to(tensor.device)).sum()


@lru_cache(maxsize=64)
def _places(n: int) -> Tensor:
    generator = torch.Generator().manual_seed(n)
    return torch.rand(n, generator=generator, dtype=torch.float32) + 0.5


def is_plain(module: nn.Module) -> bool:
    """True if a linear layer is certainly x·W + b with the weight that it shows.

    Otherwise (a subclass of the layer or of its weight, a method replaced on the object, somebody's
    hook behind it) its numbers decide.
    """
    if type(module) not in (nn.Linear, Conv1D):
        return False
    weight = module._parameters.get("weight")
    if type(weight) is nn.Parameter:
        return "forward" not in module.__dict__ and not module._forward_hooks
    if not is_part(weight):
        return False
    # transformers adds up the parts; attnviz keeps what each wrote
    forward = vars(module).get("forward")
    hooks = module._forward_hooks.values()
    ours = all(getattr(hook, "func", hook).__module__ == is_part.__module__ for hook in hooks)
    return getattr(forward, "__module__", "").startswith("transformers.") and ours


def written_layer(module: nn.Module, weight: Tensor, bias: Tensor | None) -> WrittenLayer:
    """A linear layer with its weight and bias as they are read."""
    weight = weight.detach()
    return WrittenLayer(
        weight.t() if isinstance(module, nn.Linear) else weight,  # Conv1D has [d_in, d_out]
        bias.detach() if isinstance(bias, Tensor) else None,
    )


def can_be_read(module: nn.Module) -> bool:
    """True if a linear layer shows a weight that can be multiplied with.

    Quantised and sharded weights are tensors too, often of the declared shape: they have no memory
    of their own, or none of floating-point numbers; one that is kept elsewhere has none at all.
    """
    weight = getattr(module, "weight", None)
    declared = getattr(module, "out_features", None), getattr(module, "in_features", None)
    return (
        isinstance(module, nn.Linear | Conv1D)
        and isinstance(weight, Tensor)
        and _own_memory(weight) not in (None, NO_MEMORY)
        and weight.layout is torch.strided
        and weight.is_floating_point()
        and weight.dim() == 2
        and (None in declared or tuple(weight.shape) == declared)
    )


class Copies:
    """Copies of tensors that their owners may change; one for all that hold the same numbers.

    The last `KEPT_COPIES` are remembered.
    """

    def __init__(self) -> None:
        self._made: deque[tuple[tuple[object, ...], Tensor, Tensor]] = deque(maxlen=KEPT_COPIES)

    def of(self, tensor: Tensor) -> Tensor:
        """The copy of a tensor; of rows or heads that share numbers one is copied."""
        place = storage_of(tensor), tensor.storage_offset(), tensor.dtype
        version = version_of(tensor)
        numbers = (*place, tensor.shape, tensor.stride(), version)
        for at, entry in enumerate(self._made):
            # changes that nobody counts show in the numbers
            if entry[0] == numbers and (version is not None or torch.equal(entry[2], tensor)):
                del self._made[at]  # and last again: what was read last stays
                break
        else:
            entry = numbers, tensor, _copy(tensor)  # `tensor` too: no address is used twice
        self._made.append(entry)
        return entry[2]

    def clear(self) -> None:
        """Forget all copies."""
        self._made.clear()


def _copy(tensor: Tensor) -> Tensor:
    if 0 not in tensor.stride():
        return tensor.clone()
    shared = [slice(0, 1) if step == 0 else slice(None) for step in tensor.stride()]
    return tensor[tuple(shared)].clone().expand(tensor.shape)


def version_of(tensor: Tensor) -> int | None:
    """The number of changes in place; None where torch counts none, in inference mode."""
    try:
        return tensor._version
    except RuntimeError:  # asked for first, `is_inference` would take as long again
        return None


def memory_of(tensor: Tensor) -> int:
    """`storage_of` a tensor; `NO_MEMORY` of one without memory of its own, as in `torch.vmap`."""
    is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    return NO_MEMORY if is_wrapped else storage_of(tensor)


def storage_of(tensor: Tensor) -> int:
    """The address of the memory that a tensor and its views share; `NO_MEMORY` without one.

    A sparse tensor has none. A tensor made of others (quantised, sharded, jagged) has that of the
    first of them.
    """
    try:  # as `_own_memory`: asked so often that a call more is felt
        return tensor.untyped_storage().data_ptr()
    except (NotImplementedError, RuntimeError):
        pass
    names = tensor.__tensor_flatten__()[0] if hasattr(tensor, "__tensor_flatten__") else []
    return storage_of(getattr(tensor, names[0])) if names else NO_MEMORY


def _own_memory(tensor: Tensor) -> int | None:
    """The address of a tensor's own memory; None for one that is made of others, or sparse."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (NotImplementedError, RuntimeError):
        return None
