"""Many changed copies of one text in one batch: row r has its own change, the last row none.

In: prepared inputs, and the stage changes of each row by place. Out: the measure's number for each
row; for groups of rows (`Batches`), such as the draws of one head, the mean number after each, with
progress and a way to stop. Rows of one batch differ from the same row alone by up to 7e-6 of a
logit, so the clean row of the same batch is what they are compared with. Modules that ran before
the first changed call may answer with what they gave in a clean pass: it saves half of the work
where a pass is long.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor, nn

from attnviz.attention.inputs import blocks
from attnviz.attention.stage_changes import ChangeableStage, Function, StageChange
from attnviz.capture.changed.changer import CallPlace, PlacedChanges
from attnviz.capture.changed.layout import CallSite, Layout
from attnviz.capture.changed.resolve import CorpusOf, head_functions
from attnviz.capture.changed.run import changes_made
from attnviz.changes.kinds import Ablate, Change, Corpus
from attnviz.errors import UnsupportedAttention, require_wanted
from attnviz.experiment.clean_run import CleanRun, as_mapping
from attnviz.experiment.module_outputs import NOTHING, Finished, answered, finished
from attnviz.experiment.readouts import Read, readout
from attnviz.types import ignore

# 12 to 36 rows take the same time for each; many more fall out of the processor's cache
PASS_ROWS = 24
# where a pass has more multiplications than these, about, running fewer modules is worth more than
# running fewer and larger batches
LONG = 5e7


@dataclass(frozen=True, eq=False)
class RowChange:
    """A change in one row of the batch: of a head's stage, at one call or two.

    `functions` has one for each of the `calls`.
    """

    calls: tuple[CallSite, ...]
    stage: ChangeableStage
    functions: tuple[Function, ...]
    head: int


def given(change: Ablate) -> Corpus:
    """The corpus that an ablation has with it."""
    assert isinstance(change.corpus, Corpus), "a recorded corpus"
    return change.corpus


def row_changes(change: Change, layout: Layout, corpus_of: CorpusOf = given) -> list[RowChange]:
    """A change as a row has it: one for each head that it is made to.

    Raises `BadInput` or `UnsupportedAttention` for what a call cannot take.
    """
    calls, head = layout.find(change.site), change.site.head
    by_call = [list(head_functions(change, call, corpus_of)) for call in calls]
    rows = []
    for number in range(calls[0].n_heads) if head is None else (head,):
        own = [next(entry for entry in of_call if number in entry[0]) for of_call in by_call]
        functions = tuple(function for _, _, function in own)
        rows.append(RowChange(calls, own[0][1], functions, number))
    return rows


@dataclass(frozen=True, eq=False)
class Baseline:
    """The number without changes, and what need not be computed again to change it."""

    value: float
    finished: Finished


def clean_pass(prepared: CleanRun) -> Baseline:
    """The number of the recorded pass; where a pass is long, its modules' outputs are kept too."""
    return Baseline(float(readout(prepared).read(prepared.clean)[0]), prepared.once(_finished))


def _finished(prepared: CleanRun) -> Finished:
    if not _is_long(prepared):
        return NOTHING
    return finished(prepared, prepared.layout.calls)


def _is_long(prepared: CleanRun) -> bool:
    """True if a pass of one row has LONG multiplications or more, about."""
    weights = sum(
        parameter.numel()
        for module in prepared.lm.model.modules()
        if not isinstance(module, nn.Embedding)
        for parameter in module.parameters(recurse=False)
    )
    return weights * max(call.n_query for call in prepared.calls) >= LONG


def batches(
    n: int,
    size: int,
    progress: Callable[[float], None] = ignore,
    cancel: threading.Event | None = None,
) -> Iterator[slice]:
    """The rows from 0 to n, at most `size` at a time; `progress` is told of each when it is done.

    Raises `Cancelled` soon after `cancel` was set.
    """
    for rows in blocks(n, size):
        require_wanted(cancel)
        yield rows
        progress(rows.stop / n)


def changed_rows(
    prepared: CleanRun, changes: Sequence[RowChange]
) -> tuple[Float[Tensor, " row"], float]:
    """(the number of each changed row, that of the clean row of the same batch)."""
    numbers = read_rows(prepared, changes, readout(prepared).read)
    return numbers[:-1], float(numbers[-1])


def read_rows(
    prepared: CleanRun, changes: Sequence[RowChange], read: Read
) -> Float[Tensor, "row *number"]:
    """The numbers of each changed row, and in the last row those of one without a change."""
    lm, n_row = prepared.lm, len(changes) + 1
    calls = [call for change in changes for call in change.calls]
    known = prepared.once(_finished).before_first(calls)
    with (
        lm.lock,
        torch.no_grad(),
        answered(lm.model, known, n_row),
        changes_made(lm.model, by_place(changes)),
    ):
        output = lm.model(**prepared.repeated(n_row), **prepared.options)
    numbers = read(as_mapping(output)).float().cpu()
    require_rows(lm.name, n_row, len(numbers))
    return numbers


def require_rows(model: str, n_row: int, n_answer: int) -> None:
    """Raise `UnsupportedAttention` if a batch does not have an answer for each of its rows."""
    if n_answer != n_row:
        raise UnsupportedAttention(
            f"{model} does not keep the rows of a batch apart: {n_row} went in and {n_answer}"
            " answers came out",
            code="rows_joined",
            name=model,
        )


def by_place(changes: Sequence[RowChange]) -> dict[CallPlace, PlacedChanges]:
    """The changes at each place, row by row."""
    return placed_in_rows(list(enumerate(changes)))


def placed_in_rows(changes: Sequence[tuple[int, RowChange]]) -> dict[CallPlace, PlacedChanges]:
    """The changes at each place, each in its row; a row may have several.

    Those with one function and stage are one `StageChange`, so that they are computed together.
    """
    sites = {call.place: call for _, change in changes for call in change.calls}
    pairs: dict[CallPlace, dict[tuple[ChangeableStage, Function], list[tuple[int, int]]]] = {}
    for row, change in changes:
        for call, function in zip(change.calls, change.functions, strict=True):
            of_call = pairs.setdefault(call.place, {})
            own = of_call.setdefault((change.stage, function), [])
            own += [(row * call.n_rows + window, change.head) for window in range(call.n_rows)]
    return {
        place: sites[place].placed([_in_rows(*key, own) for key, own in of_call.items()])
        for place, of_call in pairs.items()
    }


def _in_rows(
    stage: ChangeableStage, function: Function, pairs: Sequence[tuple[int, int]]
) -> StageChange:
    """A function of a stage, applied to pairs (row of the batch, head)."""
    rows, heads = zip(*pairs, strict=True)
    return StageChange(stage, function, heads, rows)


@dataclass(frozen=True, eq=False)
class Batches:
    """Rows of changed copies of one input, at most `rows` in a batch."""

    prepared: CleanRun
    clean: Baseline
    rows: int
    progress: Callable[[float], None]
    cancel: threading.Event | None

    def run(
        self, changes: Sequence[Sequence[RowChange]]
    ) -> tuple[Float64[np.ndarray, " group"], float]:
        """(the mean number after each group of rows, how far clean rows are from the clean pass).

        Raises `Cancelled` soon after `cancel` was set.
        """
        flat = [(at, change) for at, group in enumerate(changes) for change in group]
        sums, spread, done = np.zeros(len(changes)), 0.0, 0
        for batch in self._batches(flat):
            require_wanted(self.cancel)
            numbers, own = changed_rows(self.prepared, [change for _, change in batch])
            for (at, _), number in zip(batch, numbers.double().tolist(), strict=True):
                sums[at] += number - own
            spread = max(spread, abs(own - self.clean.value))
            done += len(batch)
            self.progress(done / len(flat))
        counts = np.array([len(group) for group in changes])
        return self.clean.value + sums / counts, spread

    def _batches(
        self, flat: Sequence[tuple[int, RowChange]]
    ) -> Iterator[Sequence[tuple[int, RowChange]]]:
        """At most `rows` at a time; where a pass is resumed, those of one call together."""
        groups: dict[CallPlace | None, list[tuple[int, RowChange]]] = {}
        for at, change in flat:
            place = change.calls[0].place
            key = place if place in self.clean.finished.before else None
            groups.setdefault(key, []).append((at, change))
        for group in groups.values():
            for some in blocks(len(group), self.rows):
                yield group[some]
