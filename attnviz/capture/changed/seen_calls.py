"""The attention that a model's own code has just computed, for changes before the heads' outputs.

In: a model's modules and the names of those that are to be changed. Out: q, k, v, scaling, mask and
bias of the call whose outputs W_O is about to read. They are the recorder's: scaling · q·kᵀ + bias
is the score that the model's own softmax read, entry by entry. Where that does not hold, or W_O
reads something else, the call is refused. torch's own `nn.MultiheadAttention` does not run its W_O
as a layer: it is given back when the module returns, with what it would have made of other outputs.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional

from attnviz.attention.inputs import AttentionInputs
from attnviz.capture.locate.own_code import own_code_modules
from attnviz.capture.record.fast_path import fast_path
from attnviz.capture.record.switch import eagerly
from attnviz.capture.record.trace import SeenAttention
from attnviz.capture.record.watch import Watch


class SeenCalls:
    """The newest call of each of some modules, as it was seen while it ran."""

    def __init__(self, modules: Mapping[str, nn.Module], wanted: Collection[str]) -> None:
        self._names = {id(module): name for name, module in modules.items()}
        self._wanted = wanted
        self._newest: dict[str, SeenAttention] = {}
        self.watch = Watch(modules, self._take)

    def close(self) -> None:
        """Take the hooks off the model, and let go of all tensors."""
        self.watch.close()
        self._newest.clear()

    def _take(self, seen: SeenAttention) -> None:
        name = self._names.get(id(seen.module)) or type(seen.module).__name__
        if name in self._wanted:
            self._newest[name] = seen

    def take(self, module: str, read: Tensor) -> tuple[AttentionInputs, Tensor] | None:
        """The inputs of the outputs that W_O is about to `read`, and these [batch, query, head, d].

        None where a step before these outputs is not known.
        """
        self.watch.decide_by(read)
        seen = self._newest.pop(module, None)
        if seen is None or not isinstance(seen.inputs, AttentionInputs):
            return None
        if not torch.equal(seen.output.flatten(2), read.detach()):
            return None
        return seen.inputs, read.reshape(seen.output.shape)

    def returned(self, module: str) -> SeenAttention | None:
        """The attention of torch's own module, which returns now."""
        return self._newest.pop(module, None)


def made_of(module: nn.MultiheadAttention, outputs: Tensor, returned: Tensor) -> Tensor:
    """The result of W_O of torch's own module for its heads' outputs [batch, query, head, d].

    Its axes are those of what the module `returned`.
    """
    result = functional.linear(outputs.flatten(2), module.out_proj.weight, module.out_proj.bias)
    if returned.dim() == 2:
        return result[0]
    return result if module.batch_first else result.transpose(0, 1)


@contextmanager
def own_code_seen(
    modules: Mapping[str, nn.Module], wanted: Collection[str]
) -> Iterator[SeenCalls | None]:
    """While the block runs, what these modules compute is seen; None if no code of its own may."""
    own = own_code_modules(modules) if wanted else {}
    if not own:
        yield None
        return
    with ExitStack() as stack:
        stack.enter_context(eagerly())
        stack.enter_context(fast_path.off())
        calls = SeenCalls(own, wanted)
        stack.callback(calls.close)
        stack.enter_context(calls.watch)
        yield calls
