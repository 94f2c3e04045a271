"""The effect of each head on later heads' q, k and v, measured with one head removed in each row.

In: a model and a text. Out: `Paths`: for each sender and each head that runs after it, how much
the receiver's attention moves when its queries, its keys or its values alone come from a run
without the sender. That is the sender's total effect on them, through every head and MLP between
the two as well as straight along the residual stream. It is exact and takes one pass for every two
dozen senders; the picture of a circuit is its strongest paths.

    q, k   ½ Σ |α′ − α| over keys, mean over queries: the attention that moves, 0 to 1
    v      ‖Σ α·(v′ − v)‖ ÷ ‖Σ α·v‖ over all queries: the part of the output that changes
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor

from attnviz.attention import formula
from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.capture.changed.layout import Layout, layout_of
from attnviz.capture.changed.run import changes_made
from attnviz.capture.record.recorder import record
from attnviz.changes.kinds import CorpusTexts
from attnviz.changes.site import place_among
from attnviz.errors import Cancelled, bad_argument, require_index
from attnviz.experiment.clean_run import CleanRun, takes
from attnviz.experiment.effects import (
    Replacement,
    ReplacementKind,
    one_site,
    replacement_of,
    sites_of,
)
from attnviz.experiment.rows import PASS_ROWS, RowChange, by_place
from attnviz.summary import shortened
from attnviz.types import Site, Where, ignore

FedSide = Literal["q", "k", "v"]
SIDES: tuple[FedSide, ...] = ("q", "k", "v")


@dataclass(frozen=True)
class Path:
    """One arrow of a circuit: `moved` is how much of the receiver's attention the sender moves.

    It is a total effect: what the sender does through heads and MLPs between the two is in it, so
    that it can be large where the sender writes nothing that the receiver reads directly.
    """

    sender: Site
    receiver: Site
    side: FedSide
    moved: float

    def __str__(self) -> str:
        return f"{self.sender} → {self.receiver}.{self.side} {self.moved:.2f}"

    def __repr__(self) -> str:
        return f"Path({self})"


@dataclass(frozen=True, eq=False)
class Paths:
    """`moved[sender, receiver, side]`, NaN where the receiver does not run after the sender.

    `to` says what a sender was replaced by, `corpus` over what.
    """

    senders: tuple[Site, ...]
    receivers: tuple[Site, ...]
    moved: Float64[np.ndarray, "sender receiver side"]
    to: str
    corpus: str

    def strongest(self, count: int, sides: Sequence[FedSide] = ("q", "k")) -> tuple[Path, ...]:
        """The paths that move most attention, the strongest first.

        Paths into values are left out unless "v" is among the `sides`: their number, the part of
        the output that changes, has another unit.
        """
        kept = [side_index(side) for side in sides]
        table = np.nan_to_num(self.moved[:, :, kept], nan=-1.0)
        order = np.argsort(-table, axis=None, kind="stable")[:count]
        places = zip(*np.unravel_index(order, table.shape), strict=True)
        return tuple(
            Path(self.senders[i], self.receivers[j], SIDES[kept[side]], float(table[i, j, side]))
            for i, j, side in places
            if table[i, j, side] >= 0
        )

    def of(self, sender: Where, receiver: Where, side: FedSide) -> float:
        """One path; `BadInput` for heads that are not among the senders and receivers."""
        giver = place_among(sender, self.senders, "is not among the senders")
        taker = place_among(receiver, self.receivers, "is not among the receivers")
        return float(self.moved[giver, taker, side_index(side)])

    def to_dict(self) -> dict[str, list[str] | list[float]]:
        """A row for each path there is, the strongest of each side first, as lists."""
        paths = [path for side in SIDES for path in self.strongest(self.moved.size, (side,))]
        return {
            "sender": [str(path.sender) for path in paths],
            "receiver": [str(path.receiver) for path in paths],
            "side": [str(path.side) for path in paths],
            "moved": [path.moved for path in paths],
        }

    def __repr__(self) -> str:
        senders, receivers = len(self.senders), len(self.receivers)
        first = ", ".join(map(str, self.strongest(3)))
        return f"Paths of {senders} senders into {receivers} receivers ({self.to}): {first}"


def side_index(side: str) -> int:
    """The place of a side among `SIDES`; `BadInput` for any other word."""
    if side not in SIDES:
        raise bad_argument(
            f"side is {shortened(repr(side))}; give q, k or v",
            name="side",
            found=shortened(str(side)),
            allowed="q, k, v",
        )
    return SIDES.index(side)


def paths(
    prepared: CleanRun,
    *,
    to: ReplacementKind = "mean",
    corpus: CorpusTexts | None = None,
    senders: Sequence[Where] | str | None = None,
    rows: int = PASS_ROWS,
    progress: Callable[[float], None] = ignore,
    cancel: threading.Event | None = None,
) -> Paths:
    """The effect of every head, or of each sender, on the attention of all that run after it.

    Each number is a total effect: the receiver's q, k or v comes from a whole run without the
    sender, later heads and MLPs that answer to it included. A sender is replaced as in `effects`,
    "resample" by one draw. `progress` is told what fraction is done; raises
    `Cancelled` soon after `cancel` was set.
    """
    layout = layout_of(prepared.calls)
    replacement, chosen = replacement_of(prepared.lm, to, corpus), sites_of(layout, senders)
    receivers = layout.heads
    moved = np.full((len(chosen), len(receivers), len(SIDES)), np.nan)
    for start in range(0, len(chosen), rows):
        if cancel is not None and cancel.is_set():
            raise Cancelled("stopped on request; call again for the paths", code="cancelled")
        batch = chosen[start : start + rows]
        calls = recorded_without(prepared, replacement, batch)
        moved[start : start + rows] = _moved(prepared, layout, batch, receivers, calls)
        progress(min(1.0, (start + rows) / len(chosen)))
    return Paths(chosen, receivers, moved, replacement.to, replacement.name)


def recorded_without(
    prepared: CleanRun, replacement: Replacement, senders: Sequence[Site]
) -> list[AttentionCall]:
    """The calls of a pass in which row r has sender r taken away."""
    lm, layout = prepared.lm, layout_of(prepared.calls)
    options = dict(prepared.options)
    if takes(lm, "logits_to_keep"):
        options["logits_to_keep"] = 1  # none is looked at
    changes: list[RowChange] = [replacement.changes(layout, sender)[0] for sender in senders]
    with (
        lm.lock,
        torch.no_grad(),
        changes_made(lm.model, by_place(changes)),
        record(lm.model) as calls,
    ):
        lm.model(**prepared.repeated(len(senders)), **options)
    return list(calls)


def _moved(
    prepared: CleanRun,
    layout: Layout,
    senders: Sequence[Site],
    receivers: tuple[Site, ...],
    without: Sequence[AttentionCall],
) -> Float64[np.ndarray, "sender receiver side"]:
    table = np.full((len(senders), len(receivers), len(SIDES)), np.nan)
    order = [call.site for call in layout.calls]
    first = np.array([order.index(sender.whole_layer) for sender in senders])
    for at, (clean, changed) in enumerate(zip(prepared.calls, without, strict=True)):
        behind = first < at
        own, other = clean.inputs, changed.inputs
        both = isinstance(own, AttentionInputs) and isinstance(other, AttentionInputs)
        if not (both and behind.any()) or layout.calls[at].windowed:
            continue
        assert isinstance(own, AttentionInputs) and isinstance(other, AttentionInputs)
        changes = moved_by(own, other)  # [row, head, side]
        columns = [receivers.index(order[at].with_head(head)) for head in range(clean.n_heads)]
        table[np.flatnonzero(behind)[:, None], columns] = changes[behind]
    return table


def moved_by(own: AttentionInputs, other: AttentionInputs) -> Float64[np.ndarray, "row head side"]:
    """The change of each head's attention when q, k or v comes from the rows of another pass."""
    clean = patterns(own, own.query, own.key)
    q, k = (
        (0.5 * (patterns(own, *pair) - clean).abs().sum(-1)).mean(-1)
        for pair in ((other.query, own.key), (own.query, other.key))
    )
    mixed, step = clean @ by_head(own, own.value), clean @ by_head(own, other.value - own.value)
    v = step.norm(dim=(-2, -1)) / mixed.norm(dim=(-2, -1)).clamp(min=1e-12)
    return torch.stack([q, k, v], dim=-1).double().cpu().numpy()


def patterns(
    inputs: AttentionInputs, query: Tensor, key: Tensor
) -> Float[Tensor, "row head query key"]:
    """The weights of every head with other queries or keys, under the call's own mask and bias."""
    n_row = max(len(query), len(key))
    q, k = query.float(), by_head(inputs, key)
    scores = formula.scores(q.expand(n_row, -1, -1, -1), k.expand(n_row, -1, -1, -1))
    last = formula.scaled(scores, inputs.scaling)
    if inputs.softcap is not None:
        last = formula.capped(last, inputs.softcap)
    if inputs.bias is not None:
        last = last + inputs.bias[..., : inputs.n_key].float()
    one_for_all = inputs.mask is None or inputs.mask.dim() < 4 or inputs.mask.shape[1] == 1
    seen = [inputs.may_attend(head) for head in range(1 if one_for_all else inputs.n_heads)]
    known = [mask for mask in seen if mask is not None]
    last = formula.masked(last, torch.stack(known)[None] if known else None)
    if inputs.sinks is None or inputs.sinks_gate:
        return formula.weights(last)
    sinks = inputs.sinks.float()
    return formula.weights(last, sinks.reshape(1, -1, 1, 1) if sinks.dim() == 1 else sinks)


def by_head(inputs: AttentionInputs, tensor: Tensor) -> Tensor:
    """Keys or values for each head: shared ones repeated."""
    return tensor.float().repeat_interleave(inputs.n_heads // inputs.n_kv_heads, dim=1)


def weights_without(
    prepared: CleanRun,
    senders: Sequence[Where],
    head: Where,
    query: int,
    key: int,
    side: FedSide = "k",
    *,
    to: ReplacementKind = "mean",
    corpus: CorpusTexts | None = None,
) -> tuple[float, dict[Site, float]]:
    """(the weight of a cell, the same with q or k from runs without each sender), in one pass.

    The intervention beside `why`: what a writer brings to a score is shown by taking it away.
    """
    if side not in ("q", "k"):
        raise bad_argument(
            f"side is {side!r}: a weight is made of q and k",
            name="side",
            found=str(side),
            allowed="q, k",
        )
    layout = layout_of(prepared.calls)
    replacement, givers = replacement_of(prepared.lm, to, corpus), sites_of(layout, senders)
    receiver = one_site(layout, head)
    at = [call.site for call in layout.calls].index(receiver.whole_layer)
    without = recorded_without(prepared, replacement, givers)[at].inputs
    own = prepared.calls[at].inputs
    assert isinstance(own, AttentionInputs) and isinstance(without, AttentionInputs)
    require_index("query", query, own.n_query)
    require_index("key", key, own.n_key)
    before = patterns(own, own.query, own.key)[0, receiver.head, query, key]
    parts = (without.query, own.key) if side == "q" else (own.query, without.key)
    after = patterns(own, *parts)[:, receiver.head, query, key]
    return float(before), dict(zip(givers, map(float, after), strict=True))
