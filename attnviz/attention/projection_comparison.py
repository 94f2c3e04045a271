"""q, k and v computed again from X, beside the model's own.

In: a call with the linear layers that were found before it. Out: a `Comparison` for q, k and v of
each head, and for q and k before a rotary embedding. A stage has none if its layer was not found,
or if it was changed while the model ran.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.attention.formula import outside_autocast
from attnviz.attention.inputs import AttentionInputs, batch_row
from attnviz.attention.projection import Projection, apply_linear
from attnviz.attention.rotary import (
    CallRotation,
    CallWithLayers,
    RotatedStage,
    layer_of,
    rotation_of,
)
from attnviz.attention.tolerance import max_differences
from attnviz.attention.verification import Comparison, worst
from attnviz.types import Stage

BEFORE_ROTATION: dict[RotatedStage, Stage] = {"q": "unrotated_q", "k": "unrotated_k"}
PROJECTED_STAGES: tuple[Stage, ...] = ("q", "k", "v")


def compare_projections(
    call: CallWithLayers,
    head: int,
    batch: int,
    stages: Mapping[Stage, Tensor],
    rotation: Callable[[], CallRotation],
) -> dict[Stage, Comparison]:
    """q, k and v of one head computed again from X, and q and k before the rotation.

    Of two comparisons of a stage, with what the layer wrote and with what the attention read, the
    worse one stands. `stages` has those of q, k and v that are the model's own numbers; `rotation`
    works out the call's rotary rotation, once one is needed.
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
        both = _compare(call, stage, layer, batch, [columns], ours[None], theirs[None], rotation)
        for one in both:
            compared[one.stage] = worst([one, compared.get(one.stage, one)])
    return compared


def compare_all_projections(call: CallWithLayers, batch: int) -> list[Comparison]:
    """The comparisons of q, k and v of every head in one batch row."""
    inputs = call.inputs
    if not isinstance(inputs, AttentionInputs):
        return []
    rotations: list[CallRotation] = []

    def rotation() -> CallRotation:
        if not rotations:
            rotations.append(rotation_of(call, batch))
        return rotations[0]

    compared: list[Comparison] = []
    for stage in PROJECTED_STAGES:
        layer, heads = layer_of(call, stage), unchanged_heads(inputs, stage, batch)
        if layer is None or not heads:
            continue
        ours = apply_linear(batch_row(layer.input, batch).float(), layer)
        tensor = {"q": inputs.query, "k": inputs.key, "v": inputs.value}[stage]
        kept = list(inputs.kept_heads if stage == "q" else inputs.kept_kv_heads)
        row = batch_row(tensor, batch)
        with outside_autocast(row):
            theirs = torch.stack([row[kept.index(head)] for head in heads])
        columns = [layer.columns(head, theirs.shape[-1]) for head in heads]
        parts = torch.stack([ours[:, each] for each in columns])
        compared += _compare(call, stage, layer, batch, columns, parts, theirs, rotation)
    return compared


def unchanged_heads(inputs: AttentionInputs, stage: Stage, batch: int) -> list[int]:
    """The kept heads, or key/value heads, of which a stage is the model's own."""
    changed = {
        head if stage == "q" else inputs.kv_head(head)
        for head in range(inputs.n_heads if inputs.changes else 0)
        if stage in inputs.changed_stages(head, batch)
    }
    heads = inputs.kept_heads if stage == "q" else inputs.kept_kv_heads
    return [head for head in heads if head not in changed]


def _compare(
    call: CallWithLayers,
    stage: Stage,
    layer: Projection,
    batch: int,
    columns: Sequence[slice],
    ours: Float[Tensor, "head row d_head"],
    theirs: Float[Tensor, "head token d_head"],
    rotation: Callable[[], CallRotation],
) -> Iterator[Comparison]:
    """X·W + b of the columns of some heads beside q, k or v, and beside what the layer wrote."""
    written, used = stage, layer.factor * ours
    if layer.turned and (stage == "q" or stage == "k"):
        written, used = BEFORE_ROTATION[stage], rotation().rotated(stage, ours)
    if written != stage or layer.factor != 1:  # what the layer wrote is kept and shown, too
        wrote = batch_row(layer.output, batch).float()
        errors = max_differences(ours, torch.stack([wrote[:, each] for each in columns]))
        for error, tolerance in zip(errors, layer.tolerances(columns), strict=True):
            yield Comparison(call.name, written, abs(layer.factor) * error, tolerance)
    roundings = 2 if layer.turned or layer.factor != 1 else 1  # the model rounded each result
    errors = max_differences(used, theirs[:, call.kept_rows])
    inputs = call.inputs
    assert isinstance(inputs, AttentionInputs)
    read_as = {"q": inputs.query, "k": inputs.key, "v": inputs.value}[stage].dtype
    for both in zip(errors, layer.tolerances(columns, roundings, read_as), strict=True):
        yield Comparison(call.name, stage, *both)
