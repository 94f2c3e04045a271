"""The tensors that recorded calls keep in memory: counted, reduced or moved to another device.

In: an `AttentionCall`. Out: its tensors, or a call that keeps less of them or keeps them elsewhere.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import torch
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import HeadsOf, of_heads
from attnviz.attention.kept_heads import KeptHeads
from attnviz.attention.projection import Projection


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


def with_heads(
    call: AttentionCall, heads: tuple[int, ...], by_head: HeadsOf = of_heads
) -> AttentionCall:
    """The call with some heads alone, copied so that the others are freed.

    What belongs to no head stays: what the layers read, and a mask that is one for all heads. What
    W_O wrote of all heads goes. `by_head` takes heads from a mask or bias.
    """
    only = KeptHeads(heads, call.inputs.n_heads, call.inputs.n_kv_heads)
    inputs = call.inputs.with_heads(only, by_head)
    own, projections = {"q": inputs.query, "k": inputs.key, "v": inputs.value}, {}
    for name, layer in call.projections.items():
        tensor = own.get(name)
        if tensor is None:
            projections[name] = layer.without_tensors()
        else:
            projections[name] = layer.with_heads(only.of(name), tensor.shape[3])
            own[name] = _written(projections[name], tensor)
    query, key, value = own.values()
    return replace(
        call,
        inputs=replace(inputs, query=query, key=key, value=value),  # type: ignore[arg-type]  # each as before
        output=call.output[:, :, list(heads)],
        projections=projections,
    )


def without_heads(call: AttentionCall, layer: int) -> AttentionCall:
    """A call of another layer of which no head was kept, as large as this one."""
    only = KeptHeads((), call.inputs.n_heads, call.inputs.n_kv_heads)
    return replace(
        call,
        layer=layer,
        inputs=call.inputs.with_heads(only, of_heads),
        output=call.output[:, :, :0],
        projections={},
    )


def _written(layer: Projection, tensor: Tensor) -> Tensor:
    """q, k or v as a view of what its layer wrote, if these are the same numbers."""
    n_batch, n_heads, n_token, width = tensor.shape
    written = layer.output
    if written.shape != (n_batch, n_token, n_heads * width) or written.dtype != tensor.dtype:
        return tensor
    view = written.view(n_batch, n_token, n_heads, width).transpose(1, 2)
    return view if torch.equal(view, tensor) else tensor


def nbytes(kept: Iterable[Tensor]) -> int:
    """The bytes that tensors occupy; storage shared by several is counted once."""
    storages = {tensor.untyped_storage().data_ptr(): tensor for tensor in kept}
    return sum(tensor.untyped_storage().nbytes() for tensor in storages.values())
