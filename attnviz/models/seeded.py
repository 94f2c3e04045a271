"""Models that are made when they are asked for: nothing is stored, a seed gives the very weights.

In: the name of a `BuiltModel` of the registry. Out: the module, and the inputs that belong to it,
since it reads neither text nor pictures. The numbers are torch's own initialisation; the global
random state is what it was before.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn


@dataclass(frozen=True, eq=False)
class Example:
    """Inputs that come with a model, ready to be run, and a label for each of their tokens."""

    inputs: Mapping[str, Tensor]
    labels: tuple[str, ...]

    def to(self, device: str, dtype: torch.dtype) -> "Example":
        """The same elsewhere; what was one tensor under several names stays one."""
        moved = {id(of): of.to(device=device, dtype=dtype) for of in self.inputs.values()}
        return Example({name: moved[id(of)] for name, of in self.inputs.items()}, self.labels)


Built = tuple[nn.Module, Example]


def mha_55() -> Built:
    """A `nn.MultiheadAttention` of two heads and five rows X, both from seed 55, X first."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(55)
        x: Float[Tensor, "batch token d_model"] = torch.randn(1, 5, 4, dtype=torch.float32)
        module = nn.MultiheadAttention(4, 2, bias=False, batch_first=True, dtype=torch.float32)
    labels = tuple(f"x{number}" for number in range(1, 6))
    return module.eval(), Example(dict.fromkeys(("query", "key", "value"), x), labels)


BUILDERS: dict[str, Callable[[], Built]] = {"mha-55": mha_55}
