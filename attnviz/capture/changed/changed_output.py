"""The output of one attention call with its changes made.

In: a call's inputs with their `changes`, and what the model's kernel returned. Out: the same tensor
with the changed (row, head) pairs computed from the formulas and written over it. All other heads
keep the kernel's bits, and so do the rows of a changed head that come out the same: without that,
every untouched row would move by a rounding of 1e-6 and show an effect where there is none.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stage_changes import StageChange
from attnviz.errors import UnsupportedAttention

Output = Float[Tensor, "batch query head d_value"]
Pair = tuple[int, int]  # (row, head)


def applied(inputs: AttentionInputs, output: Output) -> Output:
    """The output of attention with what `inputs.changes` say, in the kernel's own type."""
    n_batch, n_heads = output.shape[0], output.shape[2]
    early: set[Pair] = set()
    for change in inputs.changes:
        if change.stage != "mixed":
            early.update(change.pairs(n_batch, n_heads))
    if early and output.requires_grad and torch.is_grad_enabled():
        raise no_gradient()
    changed = output.clone()
    for row, head in sorted(early):
        changed[row, :, head] = _derived(inputs, output, row, head)
    return _with_outputs(changed, inputs.changes, (inputs.n_query, inputs.n_key), early)


def no_gradient() -> UnsupportedAttention:
    """The error for a change that gradients would not pass through."""
    return UnsupportedAttention(
        "gradients do not pass through a change before weights·V, nor through one in"
        " nn.MultiheadAttention or before a W_O that is a parameter; change a head's output"
        " elsewhere, or run under torch.no_grad()",
        code="no_gradient",
    )


def outputs_changed(changes: Sequence[StageChange], output: Output) -> Output:
    """The outputs of heads with changes made to them, wherever the model computed them.

    It is what W_O of a model with attention code of its own is given to read.
    """
    shape = output.shape[1], output.shape[1]
    return _with_outputs(output.clone(), changes, shape, ())


def _with_outputs(
    output: Output,
    changes: Sequence[StageChange],
    shape: tuple[int, int],
    derived: Collection[Pair],
) -> Output:
    """`output` with the changes of "mixed" written into it, but for pairs that have them."""
    for change in changes:
        if change.stage != "mixed":
            continue
        pairs = [p for p in change.pairs(output.shape[0], output.shape[2]) if p not in derived]
        if pairs:
            rows, heads = map(list, zip(*pairs, strict=True))
            values = change.applied(output[rows, :, heads].float(), pairs, shape)
            output[rows, :, heads] = values.to(output.dtype)
    return output


def _derived(inputs: AttentionInputs, output: Output, row: int, head: int) -> Tensor:
    """weights·V of one head with its changes; a query that comes out the same keeps its bits."""
    ours = inputs.stages(head, row)["mixed"]
    clean = replace(inputs, changes=()).stages(head, row)["mixed"]
    same = (ours == clean).all(dim=-1, keepdim=True)
    return torch.where(same, output[row, :, head].float(), ours).to(output.dtype)
