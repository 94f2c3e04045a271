"""The linear layers beside an attention call, W_Q, W_K, W_V, W_O, with what went in and came out.

In: a module's weight and the tensors of one forward pass. Out: a `Projection`, of which a head's
columns can be taken, and whose product can be made again in float32.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnviz.attention.inputs import of_row

ALL_COLUMNS = slice(None)


@dataclass(frozen=True, eq=False)
class Projection:
    """A linear layer next to an attention call, found because they share memory.

    `weight` is [d_in, d_out], so that `input @ weight + bias = output`. `starts` gives, for each
    head, the first of its d_head columns of `output` (W_Q, W_K, W_V) or of `input` (W_O). `turned`
    is True where a rotary embedding turned the output before it was used; `factor` is the constant
    that the model multiplied it by, the same for all heads and tokens (1 for what was turned).
    """

    module: str
    weight: Float[Tensor, "d_in d_out"]
    bias: Float[Tensor, "d_out"] | None
    input: Float[Tensor, "batch token d_in"]
    output: Float[Tensor, "batch token d_out"]
    starts: tuple[int, ...]
    turned: bool = False
    factor: float = 1.0

    def heads(self, batch: int, d_head: int) -> Float[Tensor, "head token d_head"]:
        """The output of one batch row, head by head."""
        output = of_row(self.output, batch)
        return torch.stack([output[:, start : start + d_head] for start in self.starts])

    def thinned(self, row_step: int) -> "Projection":
        """Every n-th token, copied so that the rest is freed."""
        rows = slice(None, None, row_step)
        return replace(self, input=self.input[:, rows].clone(), output=self.output[:, rows].clone())

    def columns(self, head: int, width: int) -> slice:
        """The `width` columns that belong to one head."""
        return slice(self.starts[head], self.starts[head] + width)


def apply_linear(
    x: Float[Tensor, "*batch token d_in"], layer: Projection, columns: slice = ALL_COLUMNS
) -> Float[Tensor, "*batch token d_column"]:
    """x·W + b in float32, where x is; of some columns of the layer's output, or of all."""
    product = x @ layer.weight[:, columns].to(x.device).float()
    return product if layer.bias is None else product + layer.bias[columns].to(x.device).float()


def transposed_weight(module: nn.Module) -> Tensor:
    """The weight of a linear layer as [d_in, d_out]; torch stores [d_out, d_in], GPT-2 not."""
    weight = module.weight
    assert isinstance(weight, Tensor)
    return weight.t() if isinstance(module, nn.Linear) else weight
