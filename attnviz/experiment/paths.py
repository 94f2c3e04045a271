"""The effect of each head on later heads' q, k and v, measured with one head removed in each row.

In: a model and a text. Out: `Paths`: for each sender and each head that runs after it, how much
the receiver's attention moves when its queries, keys or values alone come from a run without the
sender: a total effect, through every head and MLP between the two. Direct paths hold what lies
between as it was: all other heads (path patching, Wang et al. 2022), or all heads and MLPs. It is
exact, one pass for two dozen senders. With the answer, each path is cut too.

    q, k   ½ Σ |α′ − α| over keys, mean over queries: the attention that moves, 0 to 1
    v      ‖Σ α·(v′ − v)‖ ÷ ‖Σ α·v‖ over all queries: the part of the output that changes

The control of q and k is chance: the same change turned by a random rotation, one for all
positions: only its direction is lost. A rotation leaves the number of v as it is: it has none.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, cast

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor, nn

from attnviz.attention import formula
from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stage_changes import Function, Pairs
from attnviz.capture.changed.layout import Layout
from attnviz.capture.changed.resolve import require_changeable
from attnviz.capture.changed.run import changes_made
from attnviz.capture.record.recorder import record
from attnviz.changes.kinds import CorpusTexts
from attnviz.changes.site import place_among
from attnviz.errors import (
    UnsupportedAttention,
    require_callback,
    require_index,
    require_one_of,
)
from attnviz.experiment.clean_run import CleanRun, takes
from attnviz.experiment.dataflow.stream import states, writer_of
from attnviz.experiment.effects import (
    Replacement,
    ReplacementKind,
    one_site,
    replacement_of,
    sites_of,
)
from attnviz.experiment.rows import (
    PASS_ROWS,
    RowChange,
    batches,
    changed_rows,
    placed_in_rows,
)
from attnviz.experiment.traced_run import traced_run
from attnviz.types import Site, Where, ignore

FedSide = Literal["q", "k", "v"]
Between = Literal["nothing", "heads", "all"]
BETWEEN: tuple[Between, ...] = ("nothing", "heads", "all")
SIDES: tuple[FedSide, ...] = ("q", "k", "v")
CHANCE_DRAWS = 4  # random rotations of every change; the mean of so many stands beside each path


@dataclass(frozen=True)
class Path:
    """One arrow of a circuit: `moved` is how much of the receiver's attention the sender moves.

    With nothing held between the two it is a total effect, through heads and MLPs between them: it
    can be large where the sender writes nothing that the receiver reads directly. `answer` is the
    change of the measure's number where this path alone is cut; None where it was not asked for.
    """

    sender: Site
    receiver: Site
    side: FedSide
    moved: float
    answer: float | None = None

    def to_dict(self) -> dict[str, str | float | None]:
        """Both heads by their names, and the numbers."""
        return {**asdict(self), "sender": str(self.sender), "receiver": str(self.receiver)}

    def __str__(self) -> str:
        answer = "" if self.answer is None else f", answer {self.answer:+.2f}"
        return f"{self.sender} → {self.receiver}.{self.side} {self.moved:.2f}{answer}"

    def __repr__(self) -> str:
        return f"Path({self})"


@dataclass(frozen=True, eq=False)
class Paths:
    """`moved[sender, receiver, side]`, NaN where the receiver does not run after the sender.

    `to` says what a sender was replaced by, `corpus` over what; `between` what was held at the
    clean pass: "nothing", the other "heads", or "all", heads and MLPs. `by_chance` is what changes
    of q and k move that are as large but turned at random, the mean over 4 draws; NaN for v.
    `chance_range` has the smallest and the largest of them. `answer` has the change of the
    measure's number where each path alone is cut, None where it was not asked for.
    """

    senders: tuple[Site, ...]
    receivers: tuple[Site, ...]
    moved: Float64[np.ndarray, "sender receiver side"]
    by_chance: Float64[np.ndarray, "sender receiver side"]
    chance_range: Float64[np.ndarray, "end sender receiver side"]
    to: str
    corpus: str
    between: Between = "nothing"
    answer: Float64[np.ndarray, "sender receiver side"] | None = None

    def strongest(self, count: int, sides: Sequence[FedSide] | None = None) -> tuple[Path, ...]:
        """The paths that change the answer most where that was asked, else move most attention.

        Without the answer, paths into values are left out unless "v" is among the `sides`: their
        number, the part of the output that changes, has another unit.
        """
        every: Sequence[FedSide] = ("q", "k") if self.answer is None else SIDES
        kept = [side_index(side) for side in (every if sides is None else sides)]
        sizes = self.moved if self.answer is None else np.abs(self.answer)
        table = np.nan_to_num(sizes[:, :, kept], nan=-1.0)
        order = np.argsort(-table, axis=None, kind="stable")[:count]
        places = zip(*np.unravel_index(order, table.shape), strict=True)
        return tuple(
            self._path(i, j, kept[side]) for i, j, side in places if table[i, j, side] >= 0
        )

    def _path(self, sender: int, receiver: int, side: int) -> Path:
        place = sender, receiver, side
        answer = None if self.answer is None else float(self.answer[place])
        ends = self.senders[sender], self.receivers[receiver]
        return Path(*ends, SIDES[side], float(self.moved[place]), answer)

    def chance(self, path: Path) -> float:
        """The attention that a change as large as a path's moves by chance; NaN for v."""
        return float(self.by_chance[self._place(path)])

    def chances(self, path: Path) -> tuple[float, float]:
        """The least and the most of the draws whose mean `chance` is."""
        low, high = self.chance_range[(slice(None), *self._place(path))]
        return float(low), float(high)

    def _place(self, path: Path) -> tuple[int, int, int]:
        sender, receiver = self.senders.index(path.sender), self.receivers.index(path.receiver)
        return sender, receiver, side_index(path.side)

    def of(self, sender: Where, receiver: Where, side: FedSide) -> float:
        """One path; `BadInput` for heads that are not among the senders and receivers."""
        giver = place_among(sender, self.senders, "is not among the senders")
        taker = place_among(receiver, self.receivers, "is not among the receivers")
        return float(self.moved[giver, taker, side_index(side)])

    def to_dict(self) -> dict[str, list[str] | list[float]]:
        """A row for each path there is, the strongest of each side first, as lists."""
        paths = [path for side in SIDES for path in self.strongest(self.moved.size, (side,))]
        table: dict[str, list[str] | list[float]] = {
            "sender": [str(path.sender) for path in paths],
            "receiver": [str(path.receiver) for path in paths],
            "side": [str(path.side) for path in paths],
            "moved": [path.moved for path in paths],
            "by_chance": [self.chance(path) for path in paths],
        }
        if self.answer is not None:
            table["answer"] = [path.answer or 0.0 for path in paths]
        return table

    def __repr__(self) -> str:
        senders, receivers = len(self.senders), len(self.receivers)
        first = ", ".join(map(str, self.strongest(3)))
        held = "" if self.between == "nothing" else f", {self.between} between held"
        return f"Paths of {senders} senders into {receivers} receivers ({self.to}{held}): {first}"


def side_index(side: str) -> int:
    """The place of a side among `SIDES`; `BadInput` for any other word."""
    require_one_of("side", side, SIDES)
    return SIDES.index(cast(FedSide, side))


def paths(
    prepared: CleanRun,
    *,
    between: Between = "nothing",
    answer: bool = False,
    to: ReplacementKind = "mean",
    corpus: CorpusTexts | None = None,
    senders: Sequence[Where] | str | None = None,
    rows: int = PASS_ROWS,
    progress: Callable[[float], None] = ignore,
    cancel: threading.Event | None = None,
) -> Paths:
    """The effect of every head, or of each sender, on the attention of all that run after it.

    A sender is replaced as in `effects`, "resample" by one draw. `progress` is told what fraction
    is done; raises `Cancelled` soon after `cancel` was set.
    """
    require_callback(progress)
    layout = prepared.layout
    replacement, chosen = replacement_of(prepared.lm, to, corpus), sites_of(layout, senders)
    receivers, held = layout.heads, held_between(prepared, between)
    moved = np.full((len(chosen), len(receivers), len(SIDES)), np.nan)
    by_chance = np.full((3, *moved.shape), np.nan)
    answers = np.full_like(moved, np.nan) if answer else None
    for some in batches(len(chosen), rows, progress, cancel):
        batch = chosen[some]
        calls = recorded_without(prepared, replacement, batch, held)
        moved[some], by_chance[:, some] = _moved(prepared, layout, batch, receivers, calls)
        if answers is not None:
            answers[some] = _answers(prepared, layout, receivers, calls, moved[some], cancel)
    return Paths(
        senders=chosen,
        receivers=receivers,
        moved=moved,
        by_chance=by_chance[0],
        chance_range=by_chance[1:],
        to=replacement.to,
        corpus=replacement.name,
        between=between,
        answer=answers,
    )


@dataclass(frozen=True, eq=False)
class Held:
    """The parts that stay while a sender is away: heads, and modules with their output."""

    heads: bool = False
    modules: Mapping[str, Tensor] = field(default_factory=dict)


def held_between(prepared: CleanRun, between: str) -> Held:
    """The parts that are held between a sender and a receiver; `BadInput` for any other word.

    Raises `UnsupportedAttention` with "all" for a model of several stacks, of which the MLPs of one
    alone are found.
    """
    require_one_of("between", between, BETWEEN)
    return Held(between != "nothing", _mlps(prepared) if between == "all" else {})


def _mlps(prepared: CleanRun) -> dict[str, Tensor]:
    """The layers that write into the stream and are no W_O, by name, with what they wrote."""
    run = traced_run(prepared)
    if len({call.stack for call in run.calls}) > 1:
        raise UnsupportedAttention(
            f"{prepared.lm.name} has several stacks, and MLPs are found in that of the answer"
            " alone: give between='heads'",
            code="several_stacks",
            name=prepared.lm.name,
        )
    name = "logits" if isinstance(run.output.get("logits"), Tensor) else "last_hidden_state"
    writers = [writer_of(state) for state in states(run.value(name))]
    found: dict[str, Tensor] = {}
    for writer in writers:
        if writer is not None and run.written_by(writer) is None:
            returned = run.trace.outputs_of[writer.module][writer.run]
            assert returned is not None, "a linear layer returns a tensor"
            found[writer.module] = returned.tensor.detach()
    return found


@contextmanager
def _answering(model: nn.Module, outputs: Mapping[str, Tensor]) -> Iterator[None]:
    """While the block runs, some modules return what they returned before, in every row."""

    def answer(known: Tensor) -> Callable[[nn.Module, Any, Tensor], Tensor]:
        return lambda _module, _args, output: known.to(output).expand_as(output)

    handles = [
        model.get_submodule(name).register_forward_hook(answer(known))
        for name, known in outputs.items()
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


NOT_HELD = Held()


def recorded_without(
    prepared: CleanRun, replacement: Replacement, senders: Sequence[Site], held: Held = NOT_HELD
) -> list[AttentionCall]:
    """The calls of a pass in which row r has sender r taken away, and what is held as it was."""
    lm, layout = prepared.lm, prepared.layout
    options = dict(prepared.options)
    if takes(lm, "logits_to_keep"):
        options["logits_to_keep"] = 1  # none is looked at
    changes = [(row, replacement.changes(layout, sender)[0]) for row, sender in enumerate(senders)]
    if held.heads:
        changes += _heads_as_they_were(prepared, layout, senders)
    with (
        lm.lock,
        torch.no_grad(),
        changes_made(lm.model, placed_in_rows(changes)),
        _answering(lm.model, held.modules),
        record(lm.model) as calls,
    ):
        lm.model(**prepared.repeated(len(senders)), **options)
    return list(calls)


def _heads_as_they_were(
    prepared: CleanRun, layout: Layout, senders: Sequence[Site]
) -> list[tuple[int, RowChange]]:
    """Every head of every row but the row's sender at its clean output."""

    def clean(output: Float[Tensor, "query head d_value"]) -> Function:
        return lambda values, pairs: output.transpose(0, 1)[pairs.heads].to(values)

    changes = []
    for call, recorded in zip(layout.calls, prepared.calls, strict=True):
        if not call.projected:
            require_changeable(call.site, call)
        function = clean(recorded.output[0].float())
        for head in range(call.n_heads):
            change = RowChange((call,), "mixed", (function,), head)
            own = call.site.with_head(head)
            changes += [(row, change) for row, sender in enumerate(senders) if sender != own]
    return changes


def _answers(
    prepared: CleanRun,
    layout: Layout,
    receivers: tuple[Site, ...],
    without: Sequence[AttentionCall],
    moved: Float64[np.ndarray, "sender receiver side"],
    cancel: threading.Event | None,
) -> Float64[np.ndarray, "sender receiver side"]:
    """The change of the number where one receiver's q, k or v comes from the pass of each row."""
    answers = np.full_like(moved, np.nan)
    cells = [tuple(map(int, cell)) for cell in np.argwhere(~np.isnan(moved))]
    order = [call.site for call in layout.calls]
    for rows in batches(len(cells), 2 * PASS_ROWS, cancel=cancel):
        some, new = cells[rows], []
        for sender, receiver, side in some:
            inputs = without[order.index(receivers[receiver].whole_layer)].inputs
            taker = receivers[receiver].head
            assert isinstance(inputs, AttentionInputs) and taker is not None, "one head"
            head = taker if side == 0 else inputs.kv_head(taker)
            new.append((inputs.query, inputs.key, inputs.value)[side][sender, head])

        def fed(values: Tensor, pairs: Pairs, new: list[Tensor] = new) -> Tensor:
            return torch.stack([new[row] for row in pairs.rows.tolist()]).to(values)

        changes = [
            RowChange(layout.find(site)[:1], SIDES[side], (fed,), site.head)
            for site, side in ((receivers[receiver], side) for _, receiver, side in some)
            if site.head is not None
        ]
        numbers, own = changed_rows(prepared, changes)
        answers[tuple(np.transpose(some))] = numbers.double().numpy() - own
    return answers


def _moved(
    prepared: CleanRun,
    layout: Layout,
    senders: Sequence[Site],
    receivers: tuple[Site, ...],
    without: Sequence[AttentionCall],
) -> tuple[
    Float64[np.ndarray, "sender receiver side"], Float64[np.ndarray, "end sender receiver side"]
]:
    """The attention that each path moves; by chance: the mean of the draws, least and most."""
    tables = np.full((4, len(senders), len(receivers), len(SIDES)), np.nan)
    order = [call.site for call in layout.calls]
    first = np.array([order.index(sender.whole_layer) for sender in senders])
    for at, (clean, changed) in enumerate(zip(prepared.calls, without, strict=True)):
        behind = first < at
        own, other = clean.inputs, changed.inputs
        both = isinstance(own, AttentionInputs) and isinstance(other, AttentionInputs)
        if not (both and behind.any()) or layout.calls[at].windowed:
            continue
        assert isinstance(own, AttentionInputs) and isinstance(other, AttentionInputs)
        columns = [receivers.index(order[at].with_head(head)) for head in range(clean.n_heads)]
        rows = np.flatnonzero(behind)[:, None]
        tables[0, rows, columns] = moved_by(own, other)[behind]
        drawn = moved_by_chance(own, other, CHANCE_DRAWS)[:, behind]
        for table, end in enumerate((drawn.mean(0), drawn.min(0), drawn.max(0)), start=1):
            tables[table, rows, columns] = end
    return tables[0], tables[1:]


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


def moved_by_chance(
    own: AttentionInputs, other: AttentionInputs, draws: int
) -> Float64[np.ndarray, "draw row head side"]:
    """`moved_by` with the changes of q and k turned by a random rotation; NaN for v."""
    clean = patterns(own, own.query, own.key)
    turned = zip(
        at_random(own.query, other.query, draws), at_random(own.key, other.key, draws), strict=True
    )
    found = []
    for query, key in turned:
        q, k = (
            (0.5 * (patterns(own, *pair) - clean).abs().sum(-1)).mean(-1)
            for pair in ((query, own.key), (own.query, key))
        )
        found.append(torch.stack([q, k, torch.full_like(q, torch.nan)], dim=-1))
    return torch.stack(found).double().cpu().numpy()


def at_random(own: Tensor, other: Tensor, draws: int) -> Iterator[Tensor]:
    """A tensor changed as much as another one is, in random directions; one rotation for all."""
    generator = torch.Generator().manual_seed(0)
    d_head = own.shape[-1]
    for _ in range(draws):
        rotation = torch.linalg.qr(torch.randn(d_head, d_head, generator=generator)).Q
        yield own.float() + (other - own).float() @ rotation.to(own.device)


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
    require_one_of("side", side, ("q", "k"))  # of which a weight is made
    layout = prepared.layout
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
