"""Many changed copies of one text in one batch: row r has its own change, the last row none.

In: prepared inputs, and the stage changes of each row by place. Out: the measure's number for each
row. Rows of one batch differ from the same row alone by up to 7e-6 of a logit, so the clean row of
the same batch is what they are compared with. Blocks before the first changed one may answer with
what they gave in a clean pass: it saves half of the work where a pass is slow.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnviz.attention.stage_changes import ChangeableStage, Function, StageChange
from attnviz.capture.changed.changer import CallPlace, PlacedChanges
from attnviz.capture.changed.layout import CallSite
from attnviz.capture.changed.run import changes_made
from attnviz.effects.prepared import Prepared, as_mapping
from attnviz.effects.readouts import Readout
from attnviz.errors import UnsupportedAttention

# 12 to 36 rows take the same time for each; many more fall out of the processor's cache
ROWS = 24
SLOW_MS = 5.0


@dataclass(frozen=True, eq=False)
class RowChange:
    """A change in one row of the batch: of a head's stage, at one call or two.

    `functions` has one for each of the `calls`.
    """

    calls: tuple[CallSite, ...]
    stage: ChangeableStage
    functions: tuple[Function, ...]
    head: int


@dataclass(frozen=True, eq=False)
class Clean:
    """A pass without changes: its number, how long it took, and what each block gave.

    `blocks` are empty where nothing can be resumed; `order` has the place of each call's block.
    """

    value: float
    pass_ms: float
    blocks: Mapping[str, object]
    block_of: Mapping[CallPlace, str]

    def before(self, calls: Sequence[CallSite]) -> dict[str, object]:
        """The blocks that run before the first of some calls, with what they gave."""
        names = list(self.blocks)
        changed = [self.block_of.get(call.place) for call in calls]
        if not names or None in changed:
            return {}
        first = min(names.index(name) for name in changed if name is not None)
        return {name: self.blocks[name] for name in names[:first]}


def clean_pass(prepared: Prepared, readout: Readout, calls: Sequence[CallSite]) -> Clean:
    """The pass without changes; where it is slow it is made once more, to keep its blocks."""
    if prepared.pass_ms <= SLOW_MS:
        return Clean(float(readout.read(prepared.clean)[0]), prepared.pass_ms, {}, {})
    block_of = _blocks(prepared.lm.model, calls)
    modules = dict(prepared.lm.model.named_modules())
    blocks: dict[str, object] = {}
    with prepared.lm.lock:  # another thread's pass would be kept, too
        handles = [
            modules[name].register_forward_hook(_keeping(blocks, name))
            for name in dict.fromkeys(block_of.values())
        ]
        start = time.thread_time()
        try:
            value = float(_run(prepared, readout, 1, {})[0])
        finally:
            for handle in handles:
                handle.remove()
        pass_ms = 1000 * (time.thread_time() - start)
    resumes = pass_ms > SLOW_MS and all(_can_be_spread(output) for output in blocks.values())
    return Clean(value, pass_ms, blocks if resumes else {}, block_of)


def changed_rows(
    prepared: Prepared, readout: Readout, clean: Clean, changes: Sequence[RowChange]
) -> tuple[Float[Tensor, " row"], float]:
    """(the number of each changed row, that of the clean row of the same batch)."""
    placed = by_place(changes)
    calls = [call for change in changes for call in change.calls]
    known = clean.before(calls)
    with prepared.lm.lock, answered(prepared.lm.model, known, len(changes) + 1):
        numbers = _run(prepared, readout, len(changes) + 1, placed)
    if len(numbers) != len(changes) + 1:
        raise UnsupportedAttention(
            f"{prepared.lm.name} does not keep the rows of a batch apart: {len(changes) + 1} went"
            f" in and {len(numbers)} answers came out",
            code="rows_joined",
            name=prepared.lm.name,
        )
    return numbers[:-1], float(numbers[-1])


def by_place(changes: Sequence[RowChange]) -> dict[CallPlace, PlacedChanges]:
    """The changes at each place, row by row."""
    by_call: dict[CallPlace, list[StageChange]] = {}
    sites = {call.place: call for change in changes for call in change.calls}
    for row, change in enumerate(changes):
        for call, function in zip(change.calls, change.functions, strict=True):
            rows = tuple(range(row * call.n_rows, (row + 1) * call.n_rows))
            own = StageChange(change.stage, function, (change.head,) * len(rows), rows)
            by_call.setdefault(call.place, []).append(own)
    return {place: sites[place].placed(list(_joined(group))) for place, group in by_call.items()}


def _joined(changes: Sequence[StageChange]) -> Iterator[StageChange]:
    """Changes with one function and stage as one, so that they are computed together."""
    groups: dict[tuple[str, int], list[StageChange]] = {}
    for change in changes:
        groups.setdefault((change.stage, id(change.function)), []).append(change)
    for group in groups.values():
        heads = tuple(head for change in group for head in change.heads or ())
        rows = tuple(row for change in group for row in change.rows or ())
        yield StageChange(group[0].stage, group[0].function, heads, rows)


def _run(
    prepared: Prepared, readout: Readout, n: int, placed: Mapping[CallPlace, PlacedChanges]
) -> Float[Tensor, " row"]:
    lm = prepared.lm
    with lm.lock, torch.no_grad(), changes_made(lm.model, placed):
        output = lm.model(**spread(prepared.inputs, n), **prepared.options)
    return readout.read(as_mapping(output)).float().cpu()


def spread(inputs: Mapping[str, Any], n: int) -> dict[str, Any]:
    """The inputs of one row n times; what was one tensor under several names stays one."""
    known: dict[int, Any] = {}
    for value in inputs.values():
        one_row = isinstance(value, Tensor) and value.dim() > 0 and value.shape[0] == 1
        known[id(value)] = value.expand(n, *value.shape[1:]) if one_row else value
    return {name: known[id(value)] for name, value in inputs.items()}


# --- blocks that need not run again -------------------------------------------------------------


def _blocks(model: nn.Module, calls: Sequence[CallSite]) -> dict[CallPlace, str]:
    """The block of each call: the outermost item of a list of modules on the way to it."""
    modules = dict(model.named_modules())
    blocks = {}
    for call in calls:
        parts = call.place.module.split(".")
        for n in range(1, len(parts)):
            if isinstance(modules.get(".".join(parts[:n])), nn.ModuleList):
                blocks[call.place] = ".".join(parts[: n + 1])
                break
    return blocks


def _keeping(kept: dict[str, object], name: str) -> Callable[[nn.Module, Any, object], None]:
    def keep(_module: nn.Module, _args: Any, output: object) -> None:
        kept[name] = output

    return keep


def _can_be_spread(output: object) -> bool:
    """True for tensors of one row, alone or in plain tuples and lists."""
    if isinstance(output, Tensor):
        return output.dim() > 0 and output.shape[0] == 1
    if isinstance(output, tuple | list) and not hasattr(output, "_fields"):
        return all(_can_be_spread(part) for part in output)
    return output is None or isinstance(output, int | float | str)


def _spread_out(output: object, n: int) -> object:
    if isinstance(output, Tensor):
        return output.expand(n, *output.shape[1:])
    if isinstance(output, tuple | list):
        return type(output)(_spread_out(part, n) for part in output)
    return output


@contextmanager
def answered(model: nn.Module, blocks: Mapping[str, object], n: int) -> Iterator[None]:
    """While the block runs, these modules answer with what is known, spread over n rows.

    The answer stands on the module itself, so that only the caller that holds the model's lock may
    do this.
    """
    modules = dict(model.named_modules()) if blocks else {}
    changed = []
    try:
        for name, output in blocks.items():
            known = _spread_out(output, n)
            modules[name].forward = _answering(known)
            changed.append(modules[name])
        yield
    finally:
        for module in changed:
            del module.forward


def _answering(known: object) -> Callable[..., object]:
    return lambda *_args, **_kwargs: known
