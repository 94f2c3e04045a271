"""One call of a step while a model writes: what it brought, and what it could see.

In: a recorded call. Out: a `StepCall`. With a key cache the keys of a step are those of all steps
before it, copied; to keep them all would take O(steps × length) memory. So of each later step only
the newest keys and values are kept, one for each of its queries, and its mask over all keys. A
static cache hands out all its slots: those that no query may see are empty, and left out.
"""

from dataclasses import dataclass, replace

from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs


@dataclass(frozen=True, eq=False)
class StepCall:
    """A call, and over how many keys its `mask` and `bias` [batch, head, query, key] reach.

    The inputs of the call may hold only the newest of these keys, and then no mask.
    """

    call: AttentionCall
    n_key: int
    mask: Tensor | None
    bias: Tensor | None
    causal: bool


def whole_step(call: AttentionCall) -> StepCall:
    """A step with all keys that it could see."""
    bias = call.inputs.bias if isinstance(call.inputs, AttentionInputs) else None
    return StepCall(call, call.n_key, call.inputs.mask, bias, call.inputs.causal)


def newest_step(call: AttentionCall) -> StepCall:
    """A step with the keys and values that it added; the others belong to the steps before it."""
    inputs = call.inputs
    if call.kind != "self" or not isinstance(inputs, AttentionInputs):
        return whole_step(call)
    new = slice(-inputs.n_query, None)
    added = replace(
        inputs,
        key=inputs.key[:, :, new].clone(),  # a copy, so that the whole cache is freed
        value=inputs.value[:, :, new].clone(),
        mask=None,
        bias=None,
        causal=False,
        versions=None,
    )
    return replace(whole_step(call), call=replace(call, inputs=added))


def without_empty_slots(inputs: AttentionInputs) -> AttentionInputs:
    """Self-attention over a static cache without the slots behind the last one that is seen.

    Copied: later passes write into the same memory.
    """
    n_slot = inputs.n_query
    if not inputs.causal:
        if inputs.mask is None:
            return inputs
        seen = inputs.mask.flatten(0, -2).any(0).nonzero()
        n_slot = int(seen[-1]) + 1 if len(seen) else inputs.n_key
    bias = inputs.bias
    return replace(
        inputs,
        key=inputs.key[:, :, :n_slot].clone(),
        value=inputs.value[:, :, :n_slot].clone(),
        mask=None if inputs.mask is None else inputs.mask[..., :n_slot].clone(),
        bias=bias if bias is None or bias.shape[-1] == 1 else bias[..., :n_slot].clone(),
        versions=None,
    )
