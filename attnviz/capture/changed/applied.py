"""The output of one attention call with its changes made.

In: a call's inputs with their `changes`, and what the model's kernel returned. Out: the same tensor
with the changed (row, head) pairs computed from the formulas and written over it. All other heads
keep the kernel's bits, and so do the rows of a changed head that come out the same: without that,
every untouched row would move by a rounding of 1e-6 and show an effect where there is none.
"""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stage_changes import StageChange
from attnviz.errors import UnsupportedAttention

Output = Float[Tensor, "batch query head d_value"]


def applied(inputs: AttentionInputs, output: Output) -> Output:
    """The output of attention with what `inputs.changes` say, in the kernel's own type."""
    n_batch, n_heads = output.shape[0], output.shape[2]
    early: set[tuple[int, int]] = set()
    late: list[tuple[StageChange, list[tuple[int, int]]]] = []
    for change in inputs.changes:
        pairs = change.pairs(n_batch, n_heads)
        if change.stage == "mixed":
            late.append((change, pairs))
        else:
            early.update(pairs)
    if early and output.requires_grad and torch.is_grad_enabled():
        raise UnsupportedAttention(
            "gradients do not pass through a change before weights·V; change a head's output, or"
            " run under torch.no_grad()",
            code="no_gradient",
        )
    changed = output.clone()
    for row, head in sorted(early):
        changed[row, :, head] = _derived(inputs, output, row, head)
    shape = inputs.n_query, inputs.n_key
    for change, pairs in late:
        fresh = [pair for pair in pairs if pair not in early]
        if fresh:
            rows, heads = map(list, zip(*fresh, strict=True))
            values = change.applied(changed[rows, :, heads].float(), fresh, shape)
            changed[rows, :, heads] = values.to(changed.dtype)
    return changed


def _derived(inputs: AttentionInputs, output: Output, row: int, head: int) -> Tensor:
    """weights·V of one head with its changes; a query that comes out the same keeps its bits."""
    ours = inputs.stages(head, row)["mixed"]
    clean = replace(inputs, changes=()).stages(head, row)["mixed"]
    same = (ours == clean).all(dim=-1, keepdim=True)
    return torch.where(same, output[row, :, head].float(), ours).to(output.dtype)
