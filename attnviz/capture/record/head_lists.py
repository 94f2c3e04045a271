"""Single heads that a model keeps in a list of modules, put together as one layer.

So a first model is often written: `torch.cat([head(x) for head in self.heads], dim=-1)`. In: the
calls of single heads, in the order in which they ran, and the layers that read several of them side
by side. Out: one call for each list, under the list's name, with a head for each module. Only heads
that are alike and read one tensor, or whose outputs one layer reads side by side, are a layer: the
blocks of a model stand in a list too.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from itertools import groupby

import torch
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.projection import Projection, WrittenLayer
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.locate.projections_by_memory import AwaitedOutput, SideBySide
from attnviz.capture.record.runs import ModuleRun

APART = "each head has a layer of its own that has to be called"


@dataclass(frozen=True, eq=False)
class Recorded:
    """A recorded call and the run of its module."""

    call: AttentionCall
    run: ModuleRun


def with_whole_layers(
    recorded: Sequence[Recorded], lists: Set[str], read_together: Sequence[SideBySide]
) -> list[Recorded]:
    """The calls, those of the heads of one list put together.

    `lists` are the names of all lists of modules.
    """
    whole: list[Recorded] = []
    for (name, _), group in groupby(recorded, key=lambda one: _list_of(one, lists)):
        heads = list(group)
        layer = None if name is None or len(heads) < 2 else _layer(name, heads, read_together)
        whole += heads if layer is None else [layer]
    return whole


def _list_of(one: Recorded, lists: Set[str]) -> tuple[str | None, int]:
    """The list that a single head is in, and the number of its run."""
    parent, _, number = one.call.module.rpartition(".")
    is_head = parent in lists and number.isdigit() and one.call.n_heads == 1
    return (parent, one.run.number) if is_head else (None, id(one))


def _layer(
    name: str, heads: Sequence[Recorded], read_together: Sequence[SideBySide]
) -> Recorded | None:
    """One call of several heads; None if they are no layer."""
    calls = [head.call for head in heads]
    together = next((r for r in read_together if _are_parts(r.parts, calls)), None)
    modules = {call.module for call in calls}
    if len(modules) < len(calls) or not (together or _read_one_tensor(calls)):
        return None
    inputs = inputs_together([call.inputs for call in calls])
    if inputs is None or len({(call.kind, call.row_step, call.index) for call in calls}) > 1:
        return None
    projections, absent = {}, dict(calls[0].absent)
    for stage in ("q", "k", "v"):
        found = [call.projections[stage] for call in calls if stage in call.projections]
        if len(found) == len(calls):
            layer = _projection(name, found)
            if layer is None:
                absent[stage] = APART
            else:
                projections[stage] = layer
    output = torch.cat([call.output for call in calls], dim=2)
    if together is not None:
        projections |= together.whole.projections
        absent.pop("projected", None)
        absent |= together.whole.absent
        inputs = replace(inputs, changes=together.changes)
        output = together.whole.output[:, :: calls[0].row_step]
    call = replace(
        calls[0],
        module=name,
        inputs=inputs,
        output=output,
        projections=projections,
        absent=absent,
    )
    return Recorded(call, ModuleRun(name, heads[0].run.number))


def _are_parts(parts: Sequence[AwaitedOutput], calls: Sequence[AttentionCall]) -> bool:
    """True if outputs that were read side by side are those of these calls."""
    return len(parts) == len(calls) and all(
        part.projections is call.projections for part, call in zip(parts, calls, strict=True)
    )


def _read_one_tensor(calls: Sequence[AttentionCall]) -> bool:
    """True if the layers that wrote q read one tensor."""
    read = [call.projections["q"].input for call in calls if "q" in call.projections]
    return len(read) == len(calls) and all(
        other is read[0] or torch.equal(other, read[0]) for other in read
    )


def inputs_together(
    parts: Sequence[AttentionInputs | StoredWeights],
) -> AttentionInputs | StoredWeights | None:
    """The inputs of all heads; None if these are not alike."""
    if len(parts) == 1:
        return parts[0]
    stored = [part for part in parts if isinstance(part, StoredWeights)]
    plain = [part for part in parts if isinstance(part, AttentionInputs)]
    if stored and plain:
        return None
    if any(part.kept.shape != stored[0].kept.shape for part in stored):
        return None
    if stored:
        names = ("kept", "query", "key", "value")
        return StoredWeights(*(_heads([getattr(part, name) for part in stored]) for name in names))  # type: ignore[arg-type]  # all have weights
    first = plain[0]
    if any(_settings(part) != _settings(first) for part in plain):
        return None
    masks, biases = [part.mask for part in plain], [part.bias for part in plain]
    return replace(
        first,
        query=torch.cat([part.query for part in plain], dim=1),
        key=torch.cat([part.key for part in plain], dim=1),
        value=torch.cat([part.value for part in plain], dim=1),
        mask=_shared(masks),
        bias=_shared(biases),
        versions=None,
    )


def _settings(part: AttentionInputs) -> tuple[object, ...]:
    """The sizes and settings that all heads of a layer share."""
    shapes = part.query.shape, part.key.shape, part.value.shape
    has_more = part.sinks is not None or part.softcap is not None or bool(part.changes)
    alike = part.mask is None, part.bias is None
    return (*shapes, part.causal, part.scaling, *alike, id(part) if has_more else None)


def _shared(parts: Sequence[Tensor | None]) -> Tensor | None:
    """One mask or bias for all heads, or one for each."""
    known = [part for part in parts if part is not None]
    if not known or all(torch.equal(part, known[0]) for part in known):
        return known[0] if known else None
    return torch.cat(known, dim=1)


def _heads(parts: Sequence[Tensor | None]) -> Tensor | None:
    """[batch, head, …] of tensors of one head each; None where one is not known."""
    known = [part for part in parts if part is not None]
    same = len(known) == len(parts) and len({part.shape for part in known}) == 1
    return torch.cat(known, dim=1) if same else None


def _projection(name: str, heads: Sequence[Projection]) -> Projection | None:
    """The layers of all heads as one with their columns side by side; None if it cannot be."""
    layers = [head.layer for head in heads if isinstance(head.layer, WrittenLayer)]
    biases = [layer.bias for layer in layers if layer.bias is not None]
    alike = {(head.turned, head.factor, head.layer.weight.shape) for head in heads}
    if len(layers) < len(heads) or len(biases) not in (0, len(layers)) or len(alike) > 1:
        return None
    first, width = heads[0], layers[0].weight.shape[1]
    reads = [head.input for head in heads]
    if not all(read is reads[0] or torch.equal(read, reads[0]) for read in reads):
        return None
    weight = torch.cat([layer.weight for layer in layers], dim=1)
    return Projection(
        f"{name}.*.{first.module.rpartition('.')[2]}",
        WrittenLayer(weight, torch.cat(biases) if biases else None),
        first.input,
        torch.cat([head.output for head in heads], dim=-1),
        tuple(number * width + head.starts[0] for number, head in enumerate(heads)),
        first.turned,
        first.factor,
    )
