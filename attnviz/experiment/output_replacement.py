"""The answer with one head's output replaced by numbers: what an edit on Steps or Masks does to it.

In: a prepared input, its answer, a head and its new weights·V. Out: a `Replaced`: the answer
without and with it, and as a control with random changes of the same size to the same queries. All
are rows of one batch with a clean row in it.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.stage_changes import Function, Pairs, StageChange
from attnviz.capture.changed.layout import layout_of
from attnviz.capture.changed.run import changes_made
from attnviz.changes.site import Site
from attnviz.errors import UnsupportedAttention
from attnviz.experiment.answers import Answer
from attnviz.experiment.clean_run import CleanRun, as_mapping

DRAWS = 8


@dataclass(frozen=True, eq=False)
class Replaced:
    """One number for each choice of the answer, before and after; a row for each random change."""

    before: Float64[np.ndarray, " choice"]
    after: Float64[np.ndarray, " choice"]
    controls: Float64[np.ndarray, "draw choice"]


def call_of(prepared: CleanRun, head: Site) -> AttentionCall:
    """The recorded call of a head; raises for one in windows, whose rows are no positions."""
    layout = layout_of(prepared.calls)
    call_site = layout.find(head)[0]
    if call_site.windowed:
        raise UnsupportedAttention(
            f"{head} attends inside windows of a picture: an edit of one window is not followed to"
            " the answer",
            code="windowed_answer",
            head=str(head),
        )
    return prepared.calls[layout.calls.index(call_site)]


def replaced(
    prepared: CleanRun,
    answer: Answer,
    head: Site,
    mixed: Float[Tensor, "query d_value"],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> Replaced:
    """The answer with a head's weights·V replaced by `mixed`, in one pass with its controls.

    Queries whose numbers are the model's own keep its bits.
    """
    assert head.head is not None, "one head"
    own = call_of(prepared, head).stages(head.head)["mixed"]
    tables = torch.stack([mixed, *_random(own, mixed, draws, seed), own])
    lm, call = prepared.lm, layout_of(prepared.calls).find(head)[0]
    rows = tuple(range(draws + 1))
    change = StageChange("mixed", _by_row(tables, own), (head.head,) * len(rows), rows)
    placed = {call.place: call.placed([change])}
    with lm.lock, torch.no_grad(), changes_made(lm.model, placed):
        output = lm.model(**prepared.repeated(len(tables)), **prepared.options)
    numbers = answer.read(as_mapping(output)).double().cpu().numpy()
    return Replaced(numbers[-1], numbers[0], numbers[1:-1])


def _by_row(tables: Float[Tensor, "row query d_value"], own: Tensor) -> Function:
    """Each row of the batch has numbers of its own; where they are the model's, its bits stay."""

    def change(values: Tensor, pairs: Pairs) -> Tensor:
        replacement = tables.to(values)[pairs.rows]
        same = (replacement == own.to(values)).all(-1, keepdim=True)
        return torch.where(same, values, replacement)

    return change


def _random(
    own: Float[Tensor, "query d_value"], mixed: Tensor, draws: int, seed: int
) -> list[Float[Tensor, "query d_value"]]:
    """The output moved in random directions, at each query as far as it is moved by the change."""
    generator = torch.Generator().manual_seed(seed)
    length = (mixed - own).norm(dim=-1, keepdim=True)
    directions = (torch.randn(own.shape, generator=generator).to(own) for _ in range(draws))
    return [
        own + length * torch.nn.functional.normalize(direction, dim=-1) for direction in directions
    ]
