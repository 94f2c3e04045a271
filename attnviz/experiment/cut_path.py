"""One path of a circuit cut: a head's q, k or v from a run without one earlier head.

In: a prepared input, its answer, and a path of `paths`. Out: a `CutPath`: the receiver's weights
with and without the sender, and what becomes of the model's answer, each beside a change as large
in random directions and the same cut made for other senders. The receiver's one input is cut from
the sender, through everything between the two; what the sender does to the rest of the model stays
as it was (path patching, Wang et al. 2022, between one head and one input of another).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float32, Float64
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stage_changes import Pairs
from attnviz.capture.changed.layout import Layout
from attnviz.changes.kinds import CorpusTexts, Patch
from attnviz.errors import BadInput
from attnviz.experiment.changed_run import ChangedNumbers, read_sets
from attnviz.experiment.clean_run import CleanRun
from attnviz.experiment.effects import ReplacementKind, one_site, replacement_of
from attnviz.experiment.paths import (
    SIDES,
    Between,
    FedSide,
    at_random,
    by_head,
    held_between,
    moved_by,
    moved_by_chance,
    patterns,
    recorded_without,
    side_index,
)
from attnviz.experiment.readouts import Read
from attnviz.experiment.rows import PASS_ROWS, RowChange, read_rows
from attnviz.summary import counted
from attnviz.types import Site, Where

MAX_CONTROLS = PASS_ROWS - 1  # so that the path and its controls are one batch
CHANCE_DRAWS = 20  # random rotations of the change


@dataclass(frozen=True, eq=False)
class CutPath:
    """The result of cutting one path; `controls` are the senders cut for comparison.

    `before` and `after` are the receiver's weights; a cut of v leaves them as they were. `values`
    has, for each key, ‖v′ − v‖ ÷ ‖v‖, 0 but for v. `moved` is the path's number as `paths` has it,
    `moved_by_controls` and `weights_by_controls` those of the controls: a total effect, through
    every head and MLP between the two. `moved_by_chance` has draws of the control in which the
    change of q or k is as large and turned at random, as in `paths`; NaN for v. `answer` has the
    measure's one number, or without a measure the model's whole answer; its own controls are the
    same cuts. `answer_by_chance` has it with the input changed as much at random, draw by draw.
    """

    sender: Site
    receiver: Site
    side: FedSide
    before: Float32[np.ndarray, "query key"]
    after: Float32[np.ndarray, "query key"]
    values: Float32[np.ndarray, " key"]
    moved: float
    controls: tuple[Site, ...]
    moved_by_controls: Float64[np.ndarray, " control"]
    weights_by_controls: Float32[np.ndarray, "control query key"]
    moved_by_chance: Float64[np.ndarray, " draw"]
    answer: ChangedNumbers
    answer_by_chance: Float64[np.ndarray, "draw choice"]

    @property
    def change(self) -> Float32[np.ndarray, "query key"]:
        """The size of what changes in each cell: |α′ − α|, or α·‖v′ − v‖ ÷ ‖v‖ of a cut of v."""
        of_values = self.side == "v"
        change: np.ndarray = (
            self.before * self.values if of_values else np.abs(self.after - self.before)
        )
        return change

    def to_dict(self) -> dict[str, list[str] | list[float]]:
        """A row for the path and for each control, as lists: the sender, and what its cut moves."""
        return {
            "sender": [str(head) for head in (self.sender, *self.controls)],
            "moved": [self.moved, *self.moved_by_controls.tolist()],
        }

    def __repr__(self) -> str:
        path = f"{self.sender} → {self.receiver}.{self.side}"
        most = float(self.moved_by_controls.max()) if self.controls else float("nan")
        n_control = counted(len(self.controls), "other head")
        return f"CutPath {path}: moves {self.moved:.3f}, {n_control} {most:.3f} at most"

    def cells(self, count: int) -> list[tuple[int, int]]:
        """The (query, key) pairs that change most, the first ones first."""
        change = self.change
        places = np.argsort(-change, axis=None, kind="stable")[:count]
        pairs = [divmod(int(place), change.shape[1]) for place in places]
        return [(query, key) for query, key in pairs if change[query, key] > 0]


def cut_path(
    prepared: CleanRun,
    sender: Where,
    receiver: Where,
    side: str,
    read: Read,
    *,
    to: ReplacementKind = "mean",
    corpus: CorpusTexts | None = None,
    between: Between = "nothing",
    seed: int = 0,
) -> CutPath:
    """One path cut, and the same path from up to 23 other heads that run as early.

    `side` is the receiver's input that comes from a run without the sender, with nothing, heads or
    all between them held; `read` reads the answer with that input. The others are drawn at random
    by `seed` where there are more. Raises `BadInput` for a receiver that does not run after the
    sender.
    """
    layout, column = prepared.layout, side_index(side)
    fed = SIDES[column]
    giver, taker = one_site(layout, sender), one_site(layout, receiver)
    at = _require_later(layout, giver, taker)
    controls = _controls(layout, giver, at, seed)
    givers = [giver, *controls]
    replacement, held = replacement_of(prepared.lm, to, corpus), held_between(prepared, between)
    without = recorded_without(prepared, replacement, givers, held)
    own, other = prepared.calls[at].inputs, without[at].inputs
    assert isinstance(own, AttentionInputs) and isinstance(other, AttentionInputs)
    assert taker.head is not None, "one head"
    moved = moved_by(own, other)[:, taker.head, column]
    before, after = _weights(own, other, fed, taker.head)
    first = replace(other, query=other.query[:1], key=other.key[:1], value=other.value[:1])
    return CutPath(
        sender=giver,
        receiver=taker,
        side=fed,
        before=before,
        after=after[0],
        values=_value_changes(own, other, taker.head) * np.float32(fed == "v"),
        moved=float(moved[0]),
        controls=controls,
        moved_by_controls=moved[1:],
        weights_by_controls=after[1:],
        moved_by_chance=moved_by_chance(own, first, CHANCE_DRAWS)[:, 0, taker.head, column],
        answer=_answer(prepared, read, taker, fed, without),
        answer_by_chance=_answer_by_chance(prepared, read, taker, column, first),
    )


def _require_later(layout: Layout, sender: Site, receiver: Site) -> int:
    """The place of the receiver's call among all; `BadInput` if it runs before the sender's."""
    order = [call.site for call in layout.calls]
    first, second = order.index(sender.whole_layer), order.index(receiver.whole_layer)
    if first >= second or layout.calls[second].windowed:
        raise BadInput(
            f"{receiver} does not read what {sender} writes: the receiver must run after the"
            " sender; paths are not measured in models that attend within windows",
            code="no_path",
            sender=str(sender),
            receiver=str(receiver),
        )
    return second


def _controls(layout: Layout, sender: Site, receiver_at: int, seed: int) -> tuple[Site, ...]:
    """The other heads before the receiver; as many of them as fit into one batch."""
    order = [call.site for call in layout.calls]
    others = [
        head
        for head in layout.heads
        if head != sender and order.index(head.whole_layer) < receiver_at
    ]
    if len(others) <= MAX_CONTROLS:
        return tuple(others)
    drawn = random.Random(seed).sample(range(len(others)), MAX_CONTROLS)
    return tuple(others[place] for place in sorted(drawn))


def _weights(
    own: AttentionInputs, other: AttentionInputs, side: FedSide, head: int
) -> tuple[Float32[np.ndarray, "query key"], Float32[np.ndarray, "row query key"]]:
    """The head's weights as they were, and with q or k of each row of the other pass."""
    clean = patterns(own, own.query, own.key)[:1, head]
    n_row = len(other.query)
    parts = {"q": (other.query, own.key), "k": (own.query, other.key)}.get(side)
    after = clean.expand(n_row, -1, -1) if parts is None else patterns(own, *parts)[:, head]
    return clean[0].cpu().numpy(), after.cpu().numpy()


def _answer_by_chance(
    prepared: CleanRun,
    read: Read,
    receiver: Site,
    column: int,
    other: AttentionInputs,
) -> Float64[np.ndarray, "draw choice"]:
    """The answer with the receiver's input changed as much as the cut changes it, at random."""
    own = prepared.call_of(receiver).inputs
    assert isinstance(own, AttentionInputs) and receiver.head is not None, "one head"
    head = receiver.head if column == 0 else own.kv_head(receiver.head)
    clean, changed = (
        (inputs.query, inputs.key, inputs.value)[column][0, head] for inputs in (own, other)
    )
    drawn = torch.stack(list(at_random(clean, changed, CHANCE_DRAWS)))

    def fed(values: Tensor, pairs: Pairs) -> Tensor:
        return drawn[pairs.rows.to(drawn.device)].to(values)

    change = RowChange(prepared.layout.find(receiver)[:1], SIDES[column], (fed,), receiver.head)
    numbers = read_rows(prepared, [change] * CHANCE_DRAWS, read)[:-1]
    return numbers.double().numpy().reshape(CHANCE_DRAWS, -1)


def _value_changes(
    own: AttentionInputs, other: AttentionInputs, head: int
) -> Float32[np.ndarray, " key"]:
    """‖v′ − v‖ ÷ ‖v‖ of each key, in the first row of the other pass."""
    clean, changed = (by_head(inputs, inputs.value)[0, head] for inputs in (own, other))
    sizes = clean.norm(dim=-1).clamp(min=torch.finfo(torch.float32).tiny)
    changes: np.ndarray = ((changed - clean).norm(dim=-1) / sizes).cpu().numpy()
    return changes


def _answer(
    prepared: CleanRun,
    read: Read,
    receiver: Site,
    side: FedSide,
    without: Sequence[AttentionCall],
) -> ChangedNumbers:
    """The answer where the receiver's q, k or v comes from each row of the other pass."""
    lm = prepared.lm
    n_row = len(without[0].output)
    tokens = {stack: tokens * n_row for stack, tokens in prepared.tokens.items()}
    source = Capture(lm.key, tuple(without), tokens)
    sets = [(Patch(receiver, side, source, batch=row),) for row in range(n_row)]
    rows = read_sets(prepared, read, sets)
    return ChangedNumbers(rows[-1], rows[0], rows[1:-1], ())
