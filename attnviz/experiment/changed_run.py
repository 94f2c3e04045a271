"""The answer with some changes made, beside the answer with as many other heads taken away.

In: a prepared input, its answer and changes. Out: `ChangedNumbers`: the answer without changes,
with them, and, as a control, with other heads in their place, drawn at random. All are rows of one
batch with a clean row in it, so that one pass answers a click; a `ChangedRun` has them in words.
`continued` is what the model goes on to write, with and without the changes.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stage_changes import Pairs, StageChange
from attnviz.capture.changed import corpus
from attnviz.capture.changed.changer import CallPlace, PlacedChanges
from attnviz.capture.changed.layout import Layout
from attnviz.capture.changed.resolve import placed
from attnviz.capture.changed.run import changes_made, unchanged
from attnviz.capture.generation.decode import write
from attnviz.capture.generation.settings import Generation
from attnviz.changes.kinds import Change
from attnviz.experiment.answers import Answer
from attnviz.experiment.clean_run import CleanRun, as_mapping
from attnviz.experiment.readouts import Read, readout
from attnviz.experiment.rows import placed_in_rows, require_rows, row_changes
from attnviz.models.loaded_model import LoadedModel
from attnviz.summary import shortened
from attnviz.types import Site

Control = Literal["heads", "directions"]
DRAWS = 8  # controls, in one batch with the changed row


@dataclass(frozen=True, eq=False)
class ChangedNumbers:
    """One number for each choice of the answer, before and after the changes.

    `controls` has one row for each draw: the answers with `control_heads` changed in the same way
    instead, or, without such heads, with the changed head's output moved in random directions.
    There are none where no heads are left to draw from.
    """

    before: Float64[np.ndarray, " choice"]
    after: Float64[np.ndarray, " choice"]
    controls: Float64[np.ndarray, "draw choice"]
    control_heads: tuple[tuple[Site, ...], ...]

    def columns(self, kept: slice) -> "ChangedNumbers":
        """Some of the numbers."""
        controls = self.controls[:, kept]
        return ChangedNumbers(self.before[kept], self.after[kept], controls, self.control_heads)


@dataclass(frozen=True, eq=False)
class ChangedRun:
    """The answer with some changes made: `before` and `answer`, and the same made to other heads.

    `choices` has a number for each choice of the answer, `values` the measure's one number; None
    without a measure.
    """

    prepared: CleanRun
    changes: tuple[Change, ...]
    before: Answer
    answer: Answer
    choices: ChangedNumbers
    values: ChangedNumbers | None

    @property
    def change(self) -> float | None:
        """The change of the measure's number; None without a measure."""
        return None if self.values is None else float(self.values.after[0] - self.values.before[0])

    @property
    def control_changes(self) -> Float64[np.ndarray, " draw"] | None:
        """The change with the same made to other heads, drawn at random; None without a measure."""
        return None if self.values is None else self.values.controls[:, 0] - self.values.before[0]

    def writes(self, n_tokens: int) -> str:
        """The greedy continuation with the changes made, `n_tokens` at most."""
        return continued(self.prepared, self.changes, n_tokens)

    def to_dict(self) -> dict[str, object]:
        """The changes, and the answer before and after them, as lists and dictionaries."""
        controls = self.control_changes
        return {
            "changes": [str(change) for change in self.changes],
            "before": self.before.to_dict(),
            "answer": self.answer.to_dict(),
            "controls": [] if controls is None else controls.tolist(),
        }

    def __repr__(self) -> str:
        what = shortened(", ".join(map(str, self.changes)) or "no change")
        controls = self.control_changes
        if self.change is None or controls is None or not len(controls):
            return f"ChangedRun by {what}: {self.answer}"
        least, most = float(controls.min()), float(controls.max())
        return (
            f"ChangedRun by {what}: {self.change:+.3g} {self.answer.unit}, with other heads"
            f" {least:+.3g} to {most:+.3g}; {self.answer}"
        )


def changed_run(
    prepared: CleanRun,
    before: Answer,
    changes: Sequence[Change],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> ChangedRun:
    """The whole answer and the measure's number with the changes, both read from one pass."""
    measure = None if prepared.on is None else readout(prepared).read

    def read(output: Any) -> Tensor:
        choices = before.reader.read(output)
        if measure is None:
            return choices
        return torch.cat([measure(output)[:, None].to(choices), choices], dim=1)

    both = changed_numbers(prepared, read, changes, draws=draws, seed=seed)
    first = 0 if measure is None else 1
    choices = both.columns(slice(first, None))
    values = None if measure is None else both.columns(slice(0, 1))
    value = None if values is None else float(values.after[0])
    answer = replace(before, numbers=choices.after, value=value)
    return ChangedRun(prepared, tuple(changes), before, answer, choices, values)


def changed_numbers(
    prepared: CleanRun,
    read: Read,
    changes: Sequence[Change],
    *,
    control: Control = "heads",
    draws: int = DRAWS,
    seed: int = 0,
) -> ChangedNumbers:
    """The answer with the changes, in one pass with its controls and a clean row.

    With `control` "heads" other heads are changed in the same way. With "directions" the output of
    the one head that is changed is moved at random, at each query as far as the changes move it.

    Raises `BadInput` for a head that the model does not have, `UnsupportedAttention` for a change
    that it cannot take, or if it does not keep the rows of a batch apart.
    """
    layout = prepared.layout
    others = on_other_heads(layout, changes, draws, seed) if changes and control == "heads" else []
    sets = [tuple(changes), *others] if changes else []
    n_moved = draws if changes and control == "directions" else 0
    rows = read_sets(prepared, read, sets, n_moved=n_moved, seed=seed)
    heads = tuple(tuple(change.site for change in draw) for draw in others)
    return ChangedNumbers(rows[-1], rows[0] if changes else rows[-1], rows[1:-1], heads)


def read_sets(
    prepared: CleanRun,
    read: Read,
    sets: Sequence[Sequence[Change]],
    *,
    n_moved: int = 0,
    seed: int = 0,
) -> Float64[np.ndarray, "row number"]:
    """The numbers of the answer with each set of changes, and in the last row without any.

    Behind the first set there may be `n_moved` rows with random changes of its size.
    """
    lm, n_row = prepared.lm, len(sets) + n_moved + 1
    if n_row == 1:  # nothing is changed: the clean pass has the answer
        return read(prepared.clean).double().cpu().numpy().reshape(1, -1)
    with lm.lock, torch.no_grad():
        by_place = in_rows(lm, prepared.layout, sets)
        if n_moved:
            _move_at_random(prepared, by_place, sets[0][0].site, range(1, 1 + n_moved), seed)
        with changes_made(lm.model, by_place):
            output = lm.model(**prepared.repeated(n_row), **prepared.options)
    rows = read(as_mapping(output)).double().cpu().numpy()
    require_rows(lm.name, n_row, len(rows))
    return rows.reshape(n_row, -1)


def _move_at_random(
    prepared: CleanRun,
    by_place: dict[CallPlace, PlacedChanges],
    head: Site,
    rows: range,
    seed: int,
) -> None:
    """Add to the changes of row 0 the control of its one head: random ones of the same size."""
    call, place = prepared.call_of(head), prepared.layout.find(head)[0].place
    assert head.head is not None and isinstance(call.inputs, AttentionInputs), "one head"
    own = call.stages(head.head)["mixed"]
    inputs = replace(call.inputs, changes=by_place[place].changes)
    length = (inputs.stages(head.head)["mixed"] - own).norm(dim=-1, keepdim=True)
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(len(rows), *own.shape, generator=generator).to(own)
    moves = length * torch.nn.functional.normalize(drawn, dim=-1)

    def move(values: Tensor, pairs: Pairs) -> Tensor:
        moved: Tensor = values + moves.to(values)[pairs.rows - rows.start]
        return moved

    change = StageChange("mixed", move, (head.head,) * len(rows), tuple(rows))
    by_place[place] = replace(by_place[place], changes=(*by_place[place].changes, change))


def on_other_heads(
    layout: Layout, changes: Sequence[Change], draws: int, seed: int
) -> list[tuple[Change, ...]]:
    """The same changes made to other heads, drawn at random; none where too few are left.

    Heads of a change are replaced by heads of the same kind of attention in the same stack.
    """
    if any(change.site.head is None for change in changes):
        return []
    used = {layout.find(change.site)[0].site.with_head(change.site.head or 0) for change in changes}
    generator = random.Random(seed)
    sets: dict[tuple[Site, ...], tuple[Change, ...]] = {}
    for _ in range(draws):
        free = [head for head in layout.heads if head not in used]
        drawn_set: list[Change] = []
        for change in changes:
            own = layout.find(change.site)[0].site
            fitting = [head for head in free if (head.kind, head.stack) == (own.kind, own.stack)]
            if not fitting:
                return []
            head = generator.choice(fitting)
            free.remove(head)
            drawn_set.append(replace(change, site=head))
        sets[tuple(change.site for change in drawn_set)] = tuple(drawn_set)
    return list(sets.values())


def in_rows(
    lm: LoadedModel, layout: Layout, sets: Sequence[Sequence[Change]]
) -> dict[CallPlace, PlacedChanges]:
    """The changes at each place, where row r of the batch has the changes of set r and no others.

    The caller holds the model's lock.
    """
    with unchanged():
        return placed_in_rows(
            [
                (row, one)
                for row, changes in enumerate(sets)
                for change in changes
                for one in row_changes(change, layout, lambda of: corpus.of_ablation(lm, of))
            ]
        )


def continued(prepared: CleanRun, changes: Sequence[Change], n_tokens: int) -> str:
    """The greedy continuation of the input, `n_tokens` at most, with the changes applied.

    Raises `BadInput` for a model that cannot write, `TooLarge` if it has too few positions left.
    """
    lm = prepared.lm
    inputs = {
        name: value for name, value in prepared.inputs.items() if not name.startswith("decoder_")
    }
    known = prepared.inputs.get("input_ids")
    n_prompt = 0 if lm.kind == "encoder-decoder" or known is None else int(known.shape[1])
    with lm.lock, torch.no_grad():
        by_place = placed(changes, prepared.layout, lambda of: corpus.of_ablation(lm, of))
        with changes_made(lm.model, by_place):
            ids = write(lm, inputs, Generation(n_tokens)).ids[0]
    text = lm.text_tokenizer().decode(ids.tolist()[n_prompt:], skip_special_tokens=True)
    assert isinstance(text, str)
    return text
