"""The answer with some changes made, beside the answer with as many other heads taken away.

In: a prepared input, its answer and changes. Out: a `Switched`: the answer without changes, with
them, and, as a control, with other heads in their place, drawn at random. All are rows of one batch
with a clean row in it, so that one pass answers a click. `continued` is what the model goes on to
write, with and without the changes.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float64

from attnviz.attention.stage_changes import StageChange
from attnviz.capture.changed import corpus
from attnviz.capture.changed.changer import CallPlace, PlacedChanges
from attnviz.capture.changed.layout import Layout, layout_of
from attnviz.capture.changed.resolve import placed
from attnviz.capture.changed.run import changes_made, unchanged
from attnviz.capture.generation.decode import write
from attnviz.capture.generation.settings import Generation
from attnviz.changes.kinds import Change
from attnviz.changes.site import Site
from attnviz.experiment.answers import Answer
from attnviz.experiment.clean_run import CleanRun, as_mapping
from attnviz.experiment.rows import require_rows
from attnviz.models.loaded_model import LoadedModel

DRAWS = 8  # controls, in one batch with the changed row


@dataclass(frozen=True, eq=False)
class Switched:
    """One number for each choice of the answer, before and after the changes.

    `controls` has the answers with `control_heads` changed in the same way instead, one row for
    each draw; there are none where no heads are left to draw from.
    """

    before: Float64[np.ndarray, " choice"]
    after: Float64[np.ndarray, " choice"]
    controls: Float64[np.ndarray, "draw choice"]
    control_heads: tuple[tuple[Site, ...], ...]


def switched(
    prepared: CleanRun,
    answer: Answer,
    changes: Sequence[Change],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> Switched:
    """The answer with the changes, in one pass with its controls and a clean row.

    Raises `BadInput` for a head that the model does not have, `UnsupportedAttention` for a change
    that it cannot take, or if it does not keep the rows of a batch apart.
    """
    lm, layout = prepared.lm, layout_of(prepared.calls)
    others = drawn(layout, changes, draws, seed) if changes else []
    sets = [tuple(changes), *others] if changes else []
    n_row = len(sets) + 1
    with lm.lock, torch.no_grad():
        by_place = in_rows(lm, layout, sets)
        with changes_made(lm.model, by_place):
            output = lm.model(**prepared.repeated(n_row), **prepared.options)
    rows = answer.read(as_mapping(output)).double().cpu().numpy()
    require_rows(lm.name, n_row, len(rows))
    heads = tuple(tuple(change.site for change in draw) for draw in others)
    return Switched(rows[-1], rows[0] if changes else rows[-1], rows[1:-1], heads)


def drawn(
    layout: Layout, changes: Sequence[Change], draws: int, seed: int
) -> list[tuple[Change, ...]]:
    """The same changes made to other heads, drawn at random; none where too few are left.

    Heads of a change are replaced by heads of the same kind of attention in the same stack.
    """
    if any(change.site.head is None for change in changes):
        return []
    used = {layout.find(change.site)[0].site.with_head(change.site.head or 0) for change in changes}
    generator = random.Random(seed)
    sets = []
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
        sets.append(tuple(drawn_set))
    return list(dict.fromkeys(sets))


def in_rows(
    lm: LoadedModel, layout: Layout, sets: Sequence[Sequence[Change]]
) -> dict[CallPlace, PlacedChanges]:
    """The changes at each place, where row r of the batch has the changes of set r and no others.

    The caller holds the model's lock.
    """
    n_rows = {call.place: call.n_rows for call in layout.calls}
    n_heads = {call.place: call.n_heads for call in layout.calls}
    merged: dict[CallPlace, PlacedChanges] = {}
    for row, changes in enumerate(sets):
        with unchanged():
            by_place = placed(changes, layout, lambda change: corpus.of_ablation(lm, change))
        for place, place_changes in by_place.items():
            rows = range(row * n_rows[place], (row + 1) * n_rows[place])
            own = [_in_rows(change, rows, n_heads[place]) for change in place_changes.changes]
            before = merged[place].changes if place in merged else ()
            merged[place] = replace(place_changes, changes=(*before, *own))
    return merged


def _in_rows(change: StageChange, rows: range, n_heads: int) -> StageChange:
    """The change made in some rows of the batch only."""
    heads = tuple(range(n_heads)) if change.heads is None else change.heads
    pairs = [(row, head) for row in rows for head in heads]
    return replace(
        change,
        rows=tuple(row for row, _ in pairs),
        heads=tuple(head for _, head in pairs),
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
        layout = layout_of(prepared.calls)
        by_place = in_rows(lm, layout, [])
        if changes:
            by_place = dict(placed(changes, layout, lambda change: corpus.of_ablation(lm, change)))
        with changes_made(lm.model, by_place):
            ids = write(lm, inputs, Generation(n_tokens)).ids[0]
    text = lm.text_tokenizer().decode(ids.tolist()[n_prompt:], skip_special_tokens=True)
    assert isinstance(text, str)
    return text
