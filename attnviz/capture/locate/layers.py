"""A linear layer that ran while a model was recorded, and the memory that tensors share.

In: tensors. Out: a `LinearRun`, and the address of the storage of a tensor and all its views.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from attnviz.attention.projection import Projection, transposed_weight


@dataclass(frozen=True, eq=False)
class LinearRun:
    """A linear layer that ran: its dotted name, its input and its output."""

    name: str
    module: nn.Module
    input: Tensor
    output: Tensor

    @cached_property
    def storage(self) -> int:
        """The address of its output's memory."""
        return storage_of(self.output)

    def projection(
        self, starts: tuple[int, ...], *, turned: bool = False, factor: float = 1.0
    ) -> Projection:
        """The layer as a projection; `starts` has the first column of each head."""
        bias = self.module.bias
        return Projection(
            module=self.name,
            weight=transposed_weight(self.module).detach(),
            bias=bias.detach() if isinstance(bias, Tensor) else None,
            input=self.input,
            output=self.output,
            starts=starts,
            turned=turned,
            factor=factor,
        )


def has_memory(tensor: Tensor) -> bool:
    """True unless a tensor stands for a batch of `torch.vmap`, which has no memory of its own."""
    return not torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def storage_of(tensor: Tensor) -> int:
    """The address of the memory that a tensor and its views share."""
    return tensor.untyped_storage().data_ptr()
