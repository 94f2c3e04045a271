"""The stages of one head compared with the tensors that the model itself produced.

In: a call and the stages derived for one head. Out: a `Comparison` for weights·V of the head and of
all heads (from the attention kernel), and for the output of W_O. `projection_comparison` has those
of q, k and v.
"""

import torch
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import batch_row
from attnviz.attention.projection import Projection
from attnviz.attention.tolerance import longest, max_difference
from attnviz.attention.verification import Comparison, worst
from attnviz.types import Stage


def compare_outputs(
    call: AttentionCall,
    head: int,
    batch: int,
    concat: Tensor,
    projected: Tensor | None,
) -> dict[Stage, Comparison]:
    """weights·V of one head and of all, and the output of W_O, beside the model's own.

    `concat` has the kept heads; where these are not all, nothing is said of all. Queries that may
    attend to no key are left out; {} if there is no other.
    """
    theirs, masked = batch_row(call.output, batch), call.fully_masked(batch)
    rows = torch.arange(len(theirs)) if masked is None else (~masked.any(dim=1)).nonzero()[:, 0]
    if not len(rows):
        return {}
    ours = concat[call.kept_rows][rows].reshape(-1, *theirs.shape[1:])  # [row, head, d_value]
    heads = call.compare_mixed(ours, batch, rows)
    compared: dict[Stage, Comparison] = {"mixed": heads[call.inputs.row(head)]}
    if call.inputs.only is not None:
        return compared
    of_all = worst(heads)
    compared["concat"] = Comparison(call.name, "concat", of_all.error, of_all.tolerance)
    out = call.projections.get("out")
    if out is not None and projected is not None:
        error = max_difference(projected[call.kept_rows][rows], out.output[batch][rows])
        compared["projected"] = Comparison(call.name, "projected", error, _after_w_o(out, heads))
    return compared


def _after_w_o(out: Projection, heads: list[Comparison]) -> float:
    """W_O's own rounding, and that of weights·V carried through W_O."""
    own, mixed = out.tolerance(), max(comparison.tolerance for comparison in heads)
    return own + max(own, mixed * longest(out.weight.T))
