"""Single heads that a model keeps in a list of modules or computes in a loop, put together as one
layer.

So a first model is often written: `torch.cat([head(x) for head in self.heads], dim=-1)`, or
`for query, key, value in zip(…)` within one module. In: the calls of single heads, in the order in
which they ran, and the layers that read several of them side by side. Out: one call for each list,
under the list's name, or for each loop, with a head for each call. Only heads that are alike and
read one tensor, or the heads of a list whose outputs one layer reads side by side, are a layer: the
blocks of a model stand in a list too.
"""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import torch
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.projection import ParameterProduct, Projection, WrittenLayer
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.locate.projections_by_memory import AwaitedOutput, SideBySide
from attnviz.capture.record.runs import ModuleRun

APART = "each head has a layer of its own that has to be called"
OWN_READERS = "each head has a layer of its own behind it"


@dataclass(frozen=True, eq=False)
class Recorded:
    """A recorded call and the run of its module.

    `is_next` tells the next head of a loop from one more attention.
    """

    call: AttentionCall
    run: ModuleRun
    is_next: bool = False


def with_whole_layers(
    recorded: Sequence[Recorded],
    lists: Set[str],
    read_together: Sequence[SideBySide],
    refused: Set[str] = frozenset(),
) -> list[Recorded]:
    """The calls, those of the heads of one list or one loop put together.

    `lists` are the names of all lists of modules, `refused` those of the modules of which not every
    attention is recorded: a head of their loops may be missing.
    """
    whole: list[Recorded] = []
    for heads in _loops(recorded):
        together = _together(heads, read_together)
        is_loop = heads[0].call.module not in refused and (together or _values_differ(heads))
        layer = _layer(heads[0].call.module, heads, together) if is_loop else None
        whole += heads if layer is None else [layer]
    if len(whole) < len(recorded):
        whole = _counted_anew(whole)
    recorded, whole = whole, []
    for (name, _), group in groupby(recorded, key=lambda one: _list_of(one, lists)):
        heads = list(group)
        together = _together(heads, read_together)
        layer = None
        if name is not None and _is_layer_of_a_list(heads, together):
            layer = _layer(name, heads, together)
        whole += heads if layer is None else [layer]
    return whole


def _loops(recorded: Sequence[Recorded]) -> list[list[Recorded]]:
    """The calls, those of one loop in one list; most calls are alone in theirs."""
    loops: list[list[Recorded]] = []
    for one in recorded:
        if one.is_next and loops and loops[-1][-1].call.module == one.call.module:
            loops[-1].append(one)
        else:
            loops.append([one])
    return loops


def _is_layer_of_a_list(heads: Sequence[Recorded], together: SideBySide | None) -> bool:
    """True if modules of a list ran once each and were read side by side, or read one tensor."""
    calls = [head.call for head in heads]
    ran_once = len({call.module for call in calls}) == len(calls)
    alike = len({call.index for call in calls}) == 1
    return ran_once and alike and (together is not None or _read_one_tensor(calls))


def _values_differ(heads: Sequence[Recorded]) -> bool:
    """True if each head has values of its own: two that share them may be added or subtracted."""
    values = [head.call.inputs.value for head in heads]
    return all(
        before is not None and now is not None and not torch.equal(before, now)
        for before, now in pairwise(values)
    )


def _together(heads: Sequence[Recorded], read_together: Sequence[SideBySide]) -> SideBySide | None:
    """The reading of all heads side by side by one layer, if one did so."""
    calls = [head.call for head in heads]
    return next((r for r in read_together if _are_parts(r.parts, calls)), None)


def _counted_anew(recorded: Sequence[Recorded]) -> list[Recorded]:
    """The calls of each module counted again."""
    counts: Counter[str] = Counter()
    counted = []
    for one in recorded:
        index = counts[one.call.module]
        counts[one.call.module] += 1
        counted.append(replace(one, call=replace(one.call, index=index)))
    return counted


def _list_of(one: Recorded, lists: Set[str]) -> tuple[str | None, int]:
    """The list that a single head is in, and the number of its run."""
    parent, _, number = one.call.module.rpartition(".")
    is_head = parent in lists and number.isdigit() and one.call.n_heads == 1
    return (parent, one.run.number) if is_head else (None, id(one))


def _layer(name: str, heads: Sequence[Recorded], together: SideBySide | None) -> Recorded | None:
    """One call of several heads; None if they are no layer."""
    if len(heads) < 2:
        return None
    calls = [head.call for head in heads]
    inputs = inputs_together([call.inputs for call in calls])
    if inputs is None or len({(call.kind, call.row_step) for call in calls}) > 1:
        return None
    projections: dict[str, Projection] = {}
    absent = {stage: reason for call in calls for stage, reason in call.absent.items()}
    for stage in ("q", "k", "v"):
        found = [call.projections[stage] for call in calls if stage in call.projections]
        if len(found) == len(calls):
            layer = _projection(found)
            if layer is None:
                absent[stage] = APART
            else:
                projections[stage] = layer
    if all("out" in call.projections for call in calls):
        absent["projected"] = OWN_READERS
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
    return len(read) == len(calls) and _are_equal(read)


def inputs_together(
    parts: Sequence[AttentionInputs | StoredWeights],
) -> AttentionInputs | StoredWeights | None:
    """The inputs of all heads; None if these are not alike.

    Where the weights of some are stored, those of all are; not in half precision, in which derived
    weights are not the model's own.
    """
    if len(parts) == 1:
        return parts[0]
    stored = [part for part in parts if isinstance(part, StoredWeights)]
    plain = [part for part in parts if isinstance(part, AttentionInputs)]
    if stored and plain:
        if any(part.dtype != torch.float32 for part in parts):
            return None
        stored = [part if isinstance(part, StoredWeights) else _stored(part) for part in parts]
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


def _stored(part: AttentionInputs) -> StoredWeights:
    """The weights of a head, with what it made them of."""
    kept = torch.stack([part.weights(0, batch) for batch in range(part.n_batch)])
    return StoredWeights(kept[:, None], part.query, part.key, part.value)


def _settings(part: AttentionInputs) -> tuple[object, ...]:
    """The sizes and settings that all heads of a layer share."""
    shapes = part.query.shape, part.key.shape, part.value.shape
    has_more = part.sinks is not None or part.softcap is not None or bool(part.changes)
    alike = part.mask is None, part.bias is None
    return (*shapes, part.causal, part.scaling, *alike, id(part) if has_more else None)


def _shared(parts: Sequence[Tensor | None]) -> Tensor | None:
    """One mask or bias for all heads, or one for each."""
    known = [part for part in parts if part is not None]
    if not known or _are_equal(known):
        return known[0] if known else None
    return torch.cat(torch.broadcast_tensors(*known), dim=1)  # type: ignore[no-untyped-call]


def _heads(parts: Sequence[Tensor | None]) -> Tensor | None:
    """[batch, head, …] of tensors of one head each; None where one is not known."""
    known = [part for part in parts if part is not None]
    same = len(known) == len(parts) and len({part.shape for part in known}) == 1
    return torch.cat(known, dim=1) if same else None


def _projection(heads: Sequence[Projection]) -> Projection | None:
    """The layers of all heads as one with their columns side by side; None if it cannot be."""
    first = heads[0]
    alike = {(head.turned, head.factor, head.layer.weight.shape) for head in heads}
    if len(alike) > 1 or not _are_equal([head.input for head in heads]):
        return None
    starts = [head.starts[0] for head in heads]
    names = {head.module for head in heads}
    if len(names) == 1 and _are_equal([head.output for head in heads]):
        return replace(first, starts=tuple(starts))  # of one layer, each head has its columns
    layers = [
        head.layer for head in heads if isinstance(head.layer, WrittenLayer | ParameterProduct)
    ]
    biases = [layer.bias for layer in layers if layer.bias is not None]
    if len(layers) < len(heads) or len(biases) not in (0, len(layers)):
        return None
    weight = torch.cat([layer.weight for layer in layers], dim=1)
    width = layers[0].weight.shape[1]
    return replace(
        first,
        module=_pattern(names),
        layer=WrittenLayer(weight, torch.cat(biases) if biases else None),
        output=torch.cat([head.output for head in heads], dim=-1),
        starts=tuple(number * width + start for number, start in enumerate(starts)),
    )


def _pattern(names: Set[str]) -> str:
    """One name for modules: what differs in theirs is "*"."""
    parts = zip(*(name.split(".") for name in names), strict=False)
    return ".".join(same[0] if len(set(same)) == 1 else "*" for same in parts)


def _are_equal(tensors: Sequence[Tensor]) -> bool:
    first = tensors[0]
    return all(other is first or torch.equal(other, first) for other in tensors)
