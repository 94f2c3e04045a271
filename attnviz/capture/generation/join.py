"""Joins the calls of every step of writing into one matrix for each attention of the model.

In: the calls of all steps, and which rows of each step led to the final texts. Out: one
`AttentionCall` for each attention. With a key cache, the first step asks for the whole prompt and
each later one for one token, with keys that grow. Row by row, that is the attention of one run over
the whole sequence: q, k and v of the steps are put one after the other, and the mask says which
keys each step could see.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.projection import Projection
from attnviz.capture.generation.decode import Written
from attnviz.capture.record.steps import StepCall
from attnviz.errors import UnsupportedAttention

SAME_FACTOR = 1e-3  # factors measured on single tokens differ by that in half precision
NOT_IN_EVERY_STEP = "it was not found in every step of the writing"


def join(steps: Sequence[StepCall], written: Written) -> tuple[AttentionCall, ...]:
    """One call for each attention of the model, in place of one for each step.

    Raises `UnsupportedAttention` for attention of which only the weights are known, and for a model
    that reads the whole text again in each step.
    """
    by_place: dict[tuple[str, int], list[StepCall]] = {}
    for step in steps:
        by_place.setdefault((step.call.module, step.call.layer), []).append(step)
    rows = written.beam_rows
    # beams that were given up may have run on longer than the text that was chosen
    n_step = None if rows is None else rows.shape[1]
    return tuple(_joined(place[:n_step], written) for place in by_place.values())


def _joined(steps: list[StepCall], written: Written) -> AttentionCall:
    first = steps[0].call
    if first.stack == "encoder" or len(steps) == 1:
        return first
    _require_joinable(steps, written)
    beams = written.beam_rows
    rows = [None if beams is None else beams[:, step].clamp(min=0) for step in range(len(steps))]
    steps = [_with_rows(step, step_rows) for step, step_rows in zip(steps, rows, strict=True)]
    projections = _projections([step.call for step in steps])
    return replace(
        first,
        inputs=_joined_inputs(steps),
        output=torch.cat([step.call.output for step in steps], dim=1),
        projections=projections,
        absent=_reasons(first, projections),
    )


def _require_joinable(steps: list[StepCall], written: Written) -> None:
    call = steps[0].call
    if not all(isinstance(step.call.inputs, AttentionInputs) for step in steps):
        raise UnsupportedAttention(
            f"{call.module} cannot be joined over generated tokens: it computes attention with code"
            " of its own, and only its weights are known",
            code="cannot_join",
            module=call.module,
        )
    if sum(step.call.n_query for step in steps) > written.ids.shape[1]:
        raise UnsupportedAttention(
            f"{call.module} cannot be joined over generated tokens: the model keeps no keys and"
            " values, and reads the whole text again for each token; give the whole text instead",
            code="no_cache",
            module=call.module,
        )


def _inputs(step: StepCall) -> AttentionInputs:
    inputs = step.call.inputs
    assert isinstance(inputs, AttentionInputs), "checked before"
    return inputs


def _with_rows(step: StepCall, rows: Tensor | None) -> StepCall:
    """The step with the rows that led to the final texts; with all of them without beam search."""
    inputs = _inputs(step)
    inputs.qkv(0)  # raises if a static cache has overwritten the keys since
    if rows is None:
        return step
    call = replace(
        step.call,
        inputs=replace(
            inputs,
            query=inputs.query[rows],
            key=inputs.key[rows],
            value=inputs.value[rows],
            mask=None,
            bias=None,
        ),
        output=step.call.output[rows],
        projections={
            name: replace(layer, input=layer.input[rows], output=layer.output[rows])
            for name, layer in step.call.projections.items()
        },
    )
    mask, bias = (_rows_of(tensor, inputs.n_batch, rows) for tensor in (step.mask, step.bias))
    return replace(step, call=call, mask=mask, bias=bias)


def _rows_of(tensor: Tensor | None, n_batch: int, rows: Tensor) -> Tensor | None:
    return None if tensor is None else tensor.expand(n_batch, *tensor.shape[1:])[rows]


def _joined_inputs(steps: list[StepCall]) -> AttentionInputs:
    """q, k and v of the whole, and the keys that each query could see."""
    inputs = [_inputs(step) for step in steps]
    first = inputs[0]
    if steps[0].call.kind == "cross":
        key, value = first.key, first.value
        n_known = [steps[0].n_key] * len(steps)
    else:
        new = [part.n_query for part in inputs]
        key = torch.cat([part.key[:, :, -n:] for part, n in zip(inputs, new, strict=True)], 2)
        value = torch.cat([part.value[:, :, -n:] for part, n in zip(inputs, new, strict=True)], 2)
        n_known = torch.tensor(new).cumsum(0).tolist()
    return replace(
        first,
        query=torch.cat([part.query for part in inputs], dim=2),
        key=key,
        value=value,
        mask=_joined_masks(steps, n_known),
        bias=_joined_biases(steps, n_known),
        causal=False,
        versions=None,
    )


def _joined_masks(steps: list[StepCall], n_known: list[int]) -> Tensor:
    """The keys of the whole that each query could see; `n_known` counts the keys of each step."""
    masks = []
    for step in steps:
        n_batch, n_query = step.call.n_batch, step.call.n_query
        mask = step.mask
        if mask is None:
            mask = torch.ones(1, 1, n_query, step.n_key, dtype=torch.bool)
            mask = mask.tril() if step.causal else mask
        masks.append(mask.expand(n_batch, -1, -1, -1))
    return _stacked(masks, steps, n_known)


def _joined_biases(steps: list[StepCall], n_known: list[int]) -> Tensor | None:
    """The sums of the biases of all steps, O(n²); None if the model adds nothing."""
    biases = [step.bias for step in steps if step.bias is not None]
    return _stacked(biases, steps, n_known) if len(biases) == len(steps) else None


def _stacked(parts: list[Tensor], steps: list[StepCall], n_known: list[int]) -> Tensor:
    """[batch, head, query, key] of all steps' rows, each at the keys that its step could see.

    A cache that drops old keys (sliding windows) keeps the newest: they stand at the right.
    """
    blocks = []
    for part, step, stop in zip(parts, steps, n_known, strict=True):
        n_kept = step.n_key
        kept = part[..., -n_kept:].expand(-1, -1, step.call.n_query, n_kept)
        block = torch.zeros(*kept.shape[:3], n_known[-1], dtype=part.dtype)
        block[..., stop - n_kept : stop] = kept.cpu()
        blocks.append(block)
    n_head = max(block.shape[1] for block in blocks)
    stacked = torch.cat([block.expand(-1, n_head, -1, -1) for block in blocks], dim=2)
    return stacked.to(steps[0].call.output.device)


def _projections(calls: list[AttentionCall]) -> dict[str, Projection]:
    """The layers that were found in every step, with their inputs and outputs in order."""
    first = calls[0].projections
    # the keys and values of cross-attention are made once, in the first step
    once = ("k", "v") if calls[0].kind == "cross" else ()
    joined: dict[str, Projection] = {name: first[name] for name in once if name in first}
    for name in ("q", "k", "v", "out"):
        if name in once:
            continue
        layers = [call.projections[name] for call in calls if name in call.projections]
        is_rotated = any(layer.turned for layer in layers)  # the first position turns by nothing
        if len(layers) == len(calls) and (is_rotated or _have_one_factor(layers)):
            joined[name] = replace(
                layers[0],
                input=torch.cat([layer.input for layer in layers], dim=1),
                output=torch.cat([layer.output for layer in layers], dim=1),
                turned=is_rotated,
                factor=1.0 if is_rotated else layers[0].factor,
            )
    return joined


def _have_one_factor(layers: list[Projection]) -> bool:
    """True if every step was multiplied by the same constant, up to rounding."""
    first = layers[0].factor
    return all(math.isclose(layer.factor, first, rel_tol=SAME_FACTOR) for layer in layers)


def _reasons(first: AttentionCall, joined: dict[str, Projection]) -> dict[str, str]:
    """Why stages are missing: the reasons of the first step, and what only the joining lost."""
    stages = {"q": ("q", "x"), "k": ("k",), "v": ("v",), "out": ("projected",)}
    absent = dict(first.absent)
    for name, missing in stages.items():
        if name in first.projections and name not in joined:
            absent |= dict.fromkeys(missing, NOT_IN_EVERY_STEP)
    return absent
