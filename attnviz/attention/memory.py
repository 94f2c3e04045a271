"""The tensors that recorded calls keep in memory: counted, reduced or moved to another device.

In: an `AttentionCall`. Out: its tensors, or a call that keeps less of them or keeps them elsewhere.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from torch import Tensor

from attnviz.attention.call import AttentionCall


def tensors(call: AttentionCall) -> Iterator[Tensor]:
    """Every tensor that a call keeps alive, the model's own parameters aside."""
    yield from call.inputs.tensors()
    yield call.output
    for projection in call.projections.values():
        yield from (projection.input, projection.output)


def thinned(call: AttentionCall, row_step: int) -> AttentionCall:
    """The call with every n-th row of what the model made, copied so that the rest is freed."""
    assert call.row_step == 1, "a call is thinned once"
    projections = {name: layer.thinned(row_step) for name, layer in call.projections.items()}
    output = call.output[:, ::row_step].clone()
    return replace(call, output=output, projections=projections, row_step=row_step)


def nbytes(kept: Iterable[Tensor]) -> int:
    """The bytes that tensors occupy; storage shared by several is counted once."""
    storages = {tensor.untyped_storage().data_ptr(): tensor for tensor in kept}
    return sum(tensor.untyped_storage().nbytes() for tensor in storages.values())
