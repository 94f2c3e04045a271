"""States and copies of tensors that are not the recorder's own.

In: a call whose q, k, v, bias and output the model, or who runs it, may change in place. Out: the
states of these tensors while the model runs, and the call with copies of what nothing would tell of
later.
"""

from dataclasses import replace

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.locate.layers import TensorState


def states_of(call: AttentionCall) -> list[TensorState]:
    """The states of the tensors that the attention interface handed over.

    Keys and values are those of a cache, which `AttentionInputs.versions` watches.
    """
    tensors = [call.inputs.query, call.output]
    bias = getattr(call.inputs, "bias", None)
    if bias is not None and not bias.is_inference():
        tensors.append(bias)
    return [TensorState.of(tensor, is_counted=True) for tensor in tensors if tensor is not None]


def is_uncounted(states: list[TensorState]) -> bool:
    """True if nothing would tell that a call's tensors are changed in place later."""
    return any(state.total is not None for state in states)


def owned(call: AttentionCall) -> AttentionCall:
    """A call with copies of what no layer of the model wrote: its owner may change it."""
    inputs, named = call.inputs, {"q": "query", "k": "key", "v": "value"}
    given = [field for layer, field in named.items() if layer not in call.projections]
    if isinstance(inputs, StoredWeights):
        given.append("kept")
    tensors = {field: getattr(inputs, field) for field in given}
    copied = {field: tensor.clone() for field, tensor in tensors.items() if tensor is not None}
    if not copied:
        return call
    if isinstance(inputs, AttentionInputs):
        return replace(call, inputs=replace(inputs, **copied).watched(inputs.mask))
    return replace(call, inputs=replace(inputs, **copied))


def sums_of(inputs: AttentionInputs | StoredWeights) -> list[TensorState]:
    """The states of a call's tensors that were seen below the graph, by their sums."""
    if isinstance(inputs, StoredWeights):
        tensors = [inputs.kept, inputs.query, inputs.key, inputs.value]
    else:
        tensors = [inputs.query, inputs.key, inputs.value]
    return [TensorState.of(tensor, is_counted=False) for tensor in tensors if tensor is not None]
