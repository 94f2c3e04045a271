"""Models that are built from a seed when they are asked for: no weights are stored.

In: the name of a `BuiltModel` of the registry. Out: the module with the inputs that belong to it,
since it reads neither text nor pictures. The numbers are torch's own initialisation, which draws
from the global random state: `seeded` is a block in which that state begins with a seed, and after
which it is as it was. It belongs to the process, so one thread at a time uses it here; what can be
drawn from a `torch.Generator` is drawn from that instead.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock

import torch
from jaxtyping import Float
from torch import Tensor, nn

LOCK = RLock()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """A block that begins with this seed, as after `torch.manual_seed`, on the processor alone."""
    with LOCK, torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield


@dataclass(frozen=True, eq=False)
class ExampleInputs:
    """Inputs that come with a model, ready to be run, and a label for each of their tokens."""

    inputs: Mapping[str, Tensor]
    labels: tuple[str, ...]

    def to(self, device: str, dtype: torch.dtype) -> "ExampleInputs":
        """The same on another device; one tensor under several names stays one tensor."""
        moved = {id(old): old.to(device=device, dtype=dtype) for old in self.inputs.values()}
        return ExampleInputs(
            {name: moved[id(old)] for name, old in self.inputs.items()}, self.labels
        )


BuiltModule = tuple[nn.Module, ExampleInputs]


def mha_55() -> BuiltModule:
    """An `nn.MultiheadAttention` of two heads and five rows X, both drawn from seed 55, X first."""
    with seeded(55):
        x: Float[Tensor, "batch token d_model"] = torch.randn(1, 5, 4, dtype=torch.float32)
        module = nn.MultiheadAttention(4, 2, bias=False, batch_first=True, dtype=torch.float32)
    labels = tuple(f"x{number}" for number in range(1, 6))
    return module.eval(), ExampleInputs(dict.fromkeys(("query", "key", "value"), x), labels)


BUILDERS: dict[str, Callable[[], BuiltModule]] = {"mha-55": mha_55}
