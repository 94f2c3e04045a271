"""The stages of one head compared with the tensors that the model itself produced.

In: a call and the stages derived for one head. Out: a `Comparison` for each stage that the model
produces itself: q, k, v and their form before a rotary embedding (from X and the linear layers),
weights·V of the head and of all heads (from the attention kernel), and the output of W_O.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs, batch_row
from attnviz.attention.projection import Projection, apply_linear
from attnviz.attention.rotary_of_call import CallRotation, layer_of
from attnviz.attention.tolerance import longest, max_difference
from attnviz.attention.verification import Comparison, worst
from attnviz.types import Stage

BEFORE_ROTATION: dict[Stage, Stage] = {"q": "unrotated_q", "k": "unrotated_k"}


def compare_projections(
    call: AttentionCall,
    head: int,
    batch: int,
    stages: Mapping[Stage, Tensor],
    rotation: Callable[[], CallRotation],
) -> dict[Stage, Comparison]:
    """q, k and v computed again from X, and q and k before the rotation, beside the model's own.

    `stages` has those of q, k and v that are the model's own numbers; `rotation` works out the
    call's rotary rotation, once one is needed.
    """
    inputs = call.inputs
    assert isinstance(inputs, AttentionInputs)
    compared: dict[Stage, Comparison] = {}
    for stage, theirs in stages.items():
        layer = layer_of(call, stage)
        if layer is None:
            continue
        columns = layer.columns(head if stage == "q" else inputs.kv_head(head), theirs.shape[1])
        ours = apply_linear(batch_row(layer.input, batch).float(), layer, columns)
        if layer.turned and (stage == "q" or stage == "k"):
            before, own = BEFORE_ROTATION[stage], batch_row(layer.output, batch)[:, columns]
            error = max_difference(ours, own)
            compared[before] = Comparison(call.name, before, error, layer.tolerance(columns))
            ours = rotation().rotated(stage, ours)
        roundings = 2 if layer.turned or layer.factor != 1 else 1  # the model rounded each result
        error = max_difference(layer.factor * ours, theirs[call.kept_rows])
        tolerance = layer.tolerance(columns, roundings)
        compared[stage] = Comparison(call.name, stage, error, tolerance)
    return compared


def compare_outputs(
    call: AttentionCall,
    head: int,
    batch: int,
    concat: Tensor,
    projected: Tensor | None,
) -> dict[Stage, Comparison]:
    """weights·V of one head and of all, and the output of W_O, beside the model's own.

    Queries that may attend to no key are left out; {} if there is no other.
    """
    theirs, masked = batch_row(call.output, batch).float(), call.fully_masked(batch)
    rows = torch.arange(len(theirs)) if masked is None else (~masked.any(dim=1)).nonzero()[:, 0]
    if not len(rows):
        return {}
    ours = concat[call.kept_rows][rows].reshape(-1, *theirs.shape[1:])  # [row, head, d_value]
    heads = [
        Comparison(
            call.name,
            "mixed",
            max_difference(ours[:, number], theirs[rows, number]),
            call.mixed_tolerance(number, batch),
        )
        for number in range(call.n_heads)
    ]
    of_all = worst(heads)
    compared: dict[Stage, Comparison] = {
        "mixed": heads[head],
        "concat": Comparison(call.name, "concat", of_all.error, of_all.tolerance),
    }
    out = call.projections.get("out")
    if out is not None and projected is not None:
        error = max_difference(projected[call.kept_rows][rows], out.output[batch][rows])
        compared["projected"] = Comparison(call.name, "projected", error, _after_w_o(out, heads))
    return compared


def _after_w_o(out: Projection, heads: list[Comparison]) -> float:
    """W_O's own rounding, and that of weights·V carried through W_O."""
    own, mixed = out.tolerance(), max(comparison.tolerance for comparison in heads)
    return own + max(own, mixed * longest(out.weight.T))
