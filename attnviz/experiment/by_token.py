"""Direct attribution by head and token: the part of a number that each token has by each head.

In: a run, or a cell of a later head. Out: a `DirectByToken`. The number is the measure's, or a
score of that head with its other side whole; it is linear in what every W_O wrote, norms and gates
frozen. With g[q] the number's slope by what W_O of a layer wrote at query q,

    [head, key] = Σ_q α[q, key] · (v[key] · W_O[head]) · g[q]

sums over keys to the head's direct part (Elhage et al. 2021, "A mathematical framework"; Ferrando
et al. 2022 for norms after sums), and with all that is no head to the model's own number. One
backward pass through the frozen map gives every g. A token is a place: behind the first layer its
value holds other words too. b_V reaches the tokens by α and is a part of their cells, b_O is not. A
share is not a cause: `exact` cuts the same edges out of the model, and by sign it agrees in about
two thirds of the large cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor

from attnviz.attention.axis_tokens import key_tokens
from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.projection import Projection
from attnviz.attention.rotary import rotation_of
from attnviz.attention.stage_changes import Pairs
from attnviz.capture.changed.run import changes_made
from attnviz.capture.record.recorder import record
from attnviz.changes.kinds import Cut
from attnviz.changes.site import place_among
from attnviz.errors import bad_argument, require_index, require_one_of
from attnviz.experiment.answer_measures import AnswerMeasure, split_name
from attnviz.experiment.changed_run import read_sets
from attnviz.experiment.clean_run import CleanRun
from attnviz.experiment.components import Component, Naming, site_of
from attnviz.experiment.dataflow.parts import Walk
from attnviz.experiment.dataflow.rules import Leaf, Rules
from attnviz.experiment.dataflow.trace import Value
from attnviz.experiment.direct import Direct, SplitNumber, answer_number, direct, linear_of
from attnviz.experiment.edges import effective
from attnviz.experiment.readouts import Readout, readout
from attnviz.experiment.rows import PASS_ROWS, RowChange, batches, by_place, changed_rows
from attnviz.experiment.traced_run import traced_run
from attnviz.experiment.why import Side, head_called, unknown, value_read, visible_keys
from attnviz.summary import counted, shortened, text_table
from attnviz.types import Site, Where

CUT = 50  # cells of `exact`, the largest shares
WHOLE = "heads"  # the kind of leaf that is all that a run of W_O wrote
Cell = tuple[int, int]  # (place among the heads, key)


@dataclass(frozen=True)
class ScoreCell:
    """A score of a later head, split on one side; it prints as "score of L2.H1 at 14→4, by k"."""

    head: Site
    query: int
    key: int
    side: Side

    def __str__(self) -> str:
        return f"score of {self.head} at {self.query}→{self.key}, by {self.side}"


@dataclass(frozen=True, eq=False)
class HeadShares:
    """One head's part of a number, by query and key: `slope` at the queries from `first` on.

    `place` counts the calls of the pass.
    """

    call: AttentionCall
    place: int
    head: int
    first: int
    slope: Float[Tensor, "query d_model"]

    @property
    def queries(self) -> slice:
        """The queries at which the head adds to the number; one in a language model's answer."""
        return slice(self.first, self.first + len(self.slope))

    def look(self) -> tuple[Float[Tensor, "query key"], Float[Tensor, "key d_value"]]:
        """The weights of these queries, as they multiply the values; the values."""
        weights, v, _ = effective(self.call, self.head, self.queries)
        return weights, v

    def cells(self) -> Float[Tensor, "query key"]:
        """The part of every edge."""
        weights, v = self.look()
        return weights * (self._by_value() @ v.T)

    def by_key(self) -> tuple[Float[Tensor, " key"], Float[Tensor, " key"]]:
        """(the part of every key, the same with the text's mean value in place of each key's)."""
        weights, v = self.look()
        reached = weights.T @ self._by_value()  # [key, d_value]
        return (reached * v).sum(-1), reached @ v.mean(0)

    def _by_value(self) -> Float[Tensor, "query d_value"]:
        """The slope by the head's output."""
        rows = self.call.projections["out"].rows(self.head, self.call.output.shape[3])
        return self.slope @ rows.float().T


@dataclass(frozen=True, eq=False)
class DirectByToken:
    """The part of a number by head and key: `values` and `rest` sum to `own`.

    `number` is the measure, or the `ScoreCell` that was split; of a measure that is a logarithm
    of probabilities the logits are split, each minus the mean of all, as in `Direct`. `tokens`
    has the labels of each head's keys, those of the encoder in cross-attention; a head with
    fewer keys has zeros behind them. `rest` has what is no head: embeddings, MLPs, biases, and
    heads of which no values are known. `mean_value` is the control: the same with the text's
    mean value in place of each key's, what the weights alone would bring.
    """

    prepared: CleanRun
    number: AnswerMeasure | ScoreCell | None
    heads: tuple[Site, ...]
    values: Float64[np.ndarray, "head key"]
    mean_value: Float64[np.ndarray, "head key"]
    tokens: tuple[tuple[str, ...], ...]
    rest: dict[str, float]
    own: float
    tolerance: float
    shares: tuple[HeadShares, ...]

    @property
    def total(self) -> float:
        """The sum of all cells and of the rest."""
        return float(self.values.sum()) + sum(self.rest.values())

    @property
    def error(self) -> float:
        """|Σ − the model's own number|."""
        return abs(self.total - self.own)

    @property
    def ok(self) -> bool:
        """True if the sum is the model's own number but for rounding."""
        return self.error <= self.tolerance

    def of(self, head: Where) -> Float64[np.ndarray, "query key"]:
        """The part of every edge of one head; `BadInput` for a head without a direct part."""
        share = self.shares[self._place(head)]
        cells = np.zeros((share.call.n_query, share.call.n_key))
        cells[share.queries] = share.cells().double().cpu().numpy()
        return cells

    def by_token(self, heads: Sequence[Where] | None = None) -> Float64[np.ndarray, " key"]:
        """The part of every token through some heads, or through all."""
        by_key: np.ndarray = self.values[self._places(heads)].sum(0)
        return by_key

    @cached_property
    def exact(self) -> Float64[np.ndarray, "head key"]:
        """The change of the number with the same edges cut out of the model, exactly.

        The `CUT` largest cells are computed, in batches, when this is first read; the others are
        NaN. All else of the model answers to a cut; a cell whose sign is not the opposite of its
        share works against it further on. A score is read with the head's other side as it was.
        """
        order = np.argsort(-np.abs(self.values), axis=None, kind="stable")[:CUT]
        width = self.values.shape[1]
        return self.cut([divmod(int(at), width) for at in order if self.values.flat[at]])

    def cut(
        self, cells: Sequence[Cell], *, renormalise: bool = False
    ) -> Float64[np.ndarray, "head key"]:
        """As `exact`, for some (place of a head in `heads`, key).

        With `renormalise` the rest of a row takes the weight of the edge, as if a mask had hidden
        the key; `BadInput` then for a split score.
        """
        table = np.full(self.values.shape, np.nan)
        for place, key in cells:
            require_index("head", place, len(self.heads))
            require_index("key", key, self.shares[place].call.n_key)
        for rows in batches(len(cells), PASS_ROWS):
            some = list(cells[rows])
            changes = (
                self._without([self.cuts_of([cell], renormalise=True) for cell in some])
                if renormalise
                else _changes_without(self, some)
            )
            table[tuple(np.transpose(some))] = changes
        return table

    def cuts_of(self, cells: Sequence[Cell], *, renormalise: bool = False) -> tuple[Cut, ...]:
        """The changes that cut the edges of some cells out of the model, as `cut` does."""
        cuts = []
        for place, key in cells:
            share = self.shares[place]
            n = share.call.n_query
            queries = range(n)[share.queries]
            chosen = [None] if len(queries) == n > 1 else list(queries)
            cuts += [Cut(self.heads[place], query, key, renormalise) for query in chosen]
        return tuple(cuts)

    def cut_tokens(
        self, heads: Sequence[Where] | None = None, *, renormalise: bool = False
    ) -> Float64[np.ndarray, " key"]:
        """The change of the number with the edges of some heads, or all, to a token cut at once.

        Exact, one run for each token, and once for some heads: it is the control of every token.
        `renormalise` as in `cut`. `BadInput` for a split score: it is read with the head's other
        side as it was.
        """
        asked = tuple(self._places(heads)), renormalise
        if asked not in self._cut_before:
            self._cut_before[asked] = self._without_tokens(*asked)
        return self._cut_before[asked].copy()

    @cached_property
    def _cut_before(self) -> dict[tuple[tuple[int, ...], bool], Float64[np.ndarray, " key"]]:
        """The changes of `cut_tokens`, by the places of the heads and `renormalise`."""
        return {}

    def _without_tokens(
        self, places: Sequence[int], renormalise: bool
    ) -> Float64[np.ndarray, " key"]:
        changes = np.zeros(max(len(self.tokens[place]) for place in places))
        for rows in batches(len(changes), PASS_ROWS):
            keys = range(len(changes))[rows]
            cells = [[(at, key) for at in places if key < len(self.tokens[at])] for key in keys]
            changes[list(keys)] = self._without(
                [self.cuts_of(some, renormalise=renormalise) for some in cells]
            )
        return changes

    def _without(self, sets: Sequence[Sequence[Cut]]) -> Float64[np.ndarray, " set"]:
        """The change of the answer's number with each set of cuts, in one batch."""
        if isinstance(self.number, ScoreCell):
            raise bad_argument(
                f"{self.number} was split, and this cut runs the whole model: split an answer",
                name="of",
                found=str(self.number),
                allowed="None",
            )
        rows = read_sets(self.prepared, readout(self.prepared).read, sets)[:, 0]
        changes: np.ndarray = rows[:-1] - rows[-1]
        return changes

    @property
    def agreement(self) -> float:
        """The share of the exact cells whose change has the opposite sign of what they add."""
        known = ~np.isnan(self.exact)
        agree = np.sign(self.exact[known]) == -np.sign(self.values[known])
        return float(agree.mean()) if agree.size else float("nan")

    def to_dict(self) -> dict[str, list[str] | list[int] | list[float]]:
        """A row for each head and key, the largest share first, as lists; NaN where not cut."""
        places, keys = self._order(self.values.size)
        return {
            "head": [str(self.heads[place]) for place in places],
            "key": keys.tolist(),
            "token": [self.tokens[place][key] for place, key in zip(places, keys, strict=True)],
            "share": self.values[places, keys].tolist(),
            "mean_value": self.mean_value[places, keys].tolist(),
            "exact": self.exact[places, keys].tolist(),
        }

    def __repr__(self) -> str:
        size = f"{counted(len(self.heads), 'head')} × {counted(self.values.shape[1], 'token')}"
        return f"DirectByToken of {self._name}: {self.own:.4g} split into {size}{self._doubt}"

    def __str__(self) -> str:
        """The largest cells, each beside the change where it is cut, and the sums."""
        places, keys = self._order(CUT)
        exact = self.exact[places, keys]
        columns = {
            "head": [str(self.heads[place]) for place in places],
            "token": [
                f"{self.tokens[place][key]} {key}" for place, key in zip(places, keys, strict=True)
            ],
            "adds": [f"{value:+.3f}" for value in self.values[places, keys]],
            "cut": [f"{change:+.3f}" for change in exact],
        }
        sums = f"heads {self.values.sum():+.3f}, rest {sum(self.rest.values()):+.3f}"
        return f"{self._name} {self.own:+.3f} = {sums}{self._doubt}\n{text_table(columns)}"

    @property
    def _name(self) -> str:
        number = self.number
        return shortened(str(number) if isinstance(number, ScoreCell) else split_name(number))

    @property
    def _doubt(self) -> str:
        return "" if self.ok else f", NOT ok: they sum to {self.total:.4g}"

    def _order(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The (heads, keys) of the largest cells; no key that a head does not have."""
        order = np.argsort(-np.abs(self.values), axis=None, kind="stable")
        places, keys = np.unravel_index(order, self.values.shape)
        there = keys < np.array([len(labels) for labels in self.tokens])[places]
        return places[there][:count], keys[there][:count]

    def _places(self, heads: Sequence[Where] | None) -> list[int]:
        if heads is None:
            return list(range(len(self.heads)))
        return [self._place(head) for head in heads]

    def _place(self, head: Where) -> int:
        return place_among(head, self.heads, "adds nothing to this number directly; these do:")


def direct_by_token(prepared: CleanRun) -> DirectByToken:
    """The measure's number by head and token.

    Raises `BadInput` for a measure that is not a linear number of logits or hidden states.
    """
    resolved, number = readout(prepared), answer_number(prepared)
    if resolved.estimated == Readout.estimated:
        return _split(prepared, number, prepared.on)
    linear, output = linear_of(prepared), resolved.output
    # a cut is read with the number that is split, the measure's linear companion
    companion = replace(prepared, on=lambda answer: linear(answer[output]))
    return _split(companion, number, prepared.on)


def direct_by(
    prepared: CleanRun,
    by: Literal["component", "token"],
    of: Where | None,
    query: int | None,
    key: int | None,
    side: Side,
) -> Direct | DirectByToken:
    """The answer's number by component or by token; by token also a score of a head."""
    chosen = {"of": of, "query": query, "key": key}
    given = [name for name, value in chosen.items() if value is not None]
    require_one_of("by", by, ("component", "token"))
    if by == "component" and given:
        raise bad_argument(
            f"{given[0]}= goes with by='token'; why(head, query, key) splits a score by component",
            name=given[0],
            found=shortened(str(chosen[given[0]])),
            allowed="None",
        )
    if not given:
        return direct(prepared) if by == "component" else direct_by_token(prepared)
    if of is None or query is None or key is None:
        raise bad_argument(
            f"{given[0]}= is given alone: a score needs of=, query= and key=",
            name=given[0],
            found=", ".join(given),
            allowed="of, query, key",
        )
    return score_by_token(prepared, of, query, key, side)


def score_by_token(
    prepared: CleanRun, head: Where, query: int, key: int, side: Side
) -> DirectByToken:
    """The centred score of one cell by earlier head and token, on the side of its query or key.

    The score is scaling · q·k minus its mean over the row's visible keys, as in `why`; MLPs are
    not passed. Raises `BadInput` for a cell that does not exist or is hidden by the mask, and
    `UnsupportedAttention` where W_Q or W_K of the head is not known.
    """
    run = traced_run(prepared)
    site, call = head_called(run, head)
    row = visible_keys(site, call, query, key)
    cell = ScoreCell(site, query, key, side)
    layer = call.projections.get(side)
    if layer is None:
        raise unknown(call, side)
    value = value_read(run, call, layer)
    with torch.enable_grad():
        x = value.tensor.detach().float().clone().requires_grad_()
        score, own, bias = _score(call, cell, layer, row, x)
        (slope,) = torch.autograd.grad(score, x)
    name = Component(f"bias of W_{side.upper()}", "bias", call.layer, layer.module)
    behind = ((name, torch.tensor([bias])),)
    number = SplitNumber(run, value, slope, behind, torch.tensor([own]), Rules())
    return _split(prepared, number, cell)


def _score(
    call: AttentionCall, cell: ScoreCell, layer: Projection, row: Bool[Tensor, " key"], x: Tensor
) -> tuple[Tensor, float, float]:
    """(the score from one side without its bias, the model's own score, the bias's part)."""
    inputs = call.inputs
    assert isinstance(inputs, AttentionInputs) and cell.head.head is not None
    head = cell.head.head if cell.side == "q" else inputs.kv_head(cell.head.head)
    columns, d_head = layer.columns(head, inputs.d_head), inputs.d_head
    q, k, _ = inputs.qkv(cell.head.head)
    centre = centred_at(cell.key, row).to(k)

    def read(vectors: Float[Tensor, "token d_head"]) -> Tensor:
        if layer.turned:
            units = torch.eye(d_head)[:, None].expand(-1, len(vectors), -1)  # [unit, token, d_head]
            turns = rotation_of(call, 0).rotated(cell.side, units.contiguous())
            vectors = torch.einsum("tu,utd->td", vectors, turns.float())
        else:
            vectors = vectors * layer.factor
        if cell.side == "q":
            return inputs.scaling * (vectors[cell.query] @ (k.T @ centre))
        return inputs.scaling * (centre @ (vectors @ q[cell.query]))

    score = read(x[0] @ layer.weight[:, columns].float())
    bias = 0.0
    if layer.bias is not None:
        bias = float(read(layer.bias[columns].detach().float().expand(x.shape[1], -1)))
    return score, float(inputs.scaling * (centre @ (k @ q[cell.query]))), bias


def centred_at(key: int, row: Bool[Tensor, " key"]) -> Float[Tensor, " key"]:
    """The keys' factors in a centred score: 1 at the key, less the mean of the visible ones."""
    factors = -row.float() / row.sum()
    factors[key] += 1
    return factors


# --- the split ----------------------------------------------------------------------------------


def _split(
    prepared: CleanRun, number: SplitNumber, name: AnswerMeasure | ScoreCell | None
) -> DirectByToken:
    written, rest = _slopes(number)
    shares = tuple(
        share
        for call, slope in written
        for share in _shares(call, number.run.calls.index(call), slope)
    )
    width = max((share.call.n_key for share in shares), default=0)
    values, mean_value = np.zeros((2, len(shares), width))
    for at, share in enumerate(shares):
        own, alike = (part.double().cpu().numpy() for part in share.by_key())
        values[at, : len(own)], mean_value[at, : len(own)] = own, alike
    rest |= {component.label: float(value[0]) for component, value in number.behind}
    return DirectByToken(
        prepared=prepared,
        number=name,
        heads=tuple(site_of(share.call, share.head) for share in shares),
        values=values,
        mean_value=mean_value,
        tokens=tuple(key_tokens(prepared.tokens, share.call, 0).labels for share in shares),
        rest=rest,
        own=float(number.own[0]),
        tolerance=number.tolerance([*values.ravel().tolist(), *rest.values()]),
        shares=shares,
    )


def _slopes(
    number: SplitNumber,
) -> tuple[list[tuple[AttentionCall, Tensor]], dict[str, float]]:
    """(the slope by what each W_O wrote, [1, query, d_model]; what else adds to the number)."""
    run, naming = number.run, Naming(number.run)
    calls: dict[int, AttentionCall] = {}

    def sources(value: Value) -> Sequence[Leaf] | None:
        call = run.heads_behind(value)
        if call is None or not _has_values(call):
            return naming.heads_of(value)
        calls[id(value)] = call
        return [Leaf(str(site_of(call)), WHOLE, value.tensor.detach().float(), value)]

    walk = Walk(number.value, replace(number.rules, sources=sources))
    outputs = {id(leaf.source): leaf.tensor for leaf in walk.leaves if leaf.kind == WHOLE}
    with torch.enable_grad():
        leaves = {source: tensor.clone().requires_grad_() for source, tensor in outputs.items()}
        total = walk.total(lambda leaf: leaves.get(id(leaf.source)))
        found = torch.autograd.grad((total * number.slope).sum(), list(leaves.values()))
    written = [(calls[source], slope) for source, slope in zip(leaves, found, strict=True)]
    written.sort(key=lambda pair: run.calls.index(pair[0]))
    rest: dict[str, float] = {}
    for part in sorted(walk.parts(), key=lambda part: part.position):
        if part.kind != WHOLE:
            label = str(naming.written(part).component)
            rest[label] = rest.get(label, 0.0) + float(number.share(part.tensor)[0])
    for call, slope in written:
        bias = call.projections["out"].bias
        if bias is not None:
            rest[f"{site_of(call)}.b_O"] = float((slope * bias.detach().float()).sum())
    return written, rest


def _has_values(call: AttentionCall) -> bool:
    """True if the heads of a call are told apart by key: its values are known, without windows."""
    return call.inputs.value is not None and call.n_batch == 1 and call.windows is None


def _shares(call: AttentionCall, place: int, slope: Tensor) -> list[HeadShares]:
    """The heads of a call, with the rows of the slope that are not 0."""
    rows = slope.reshape(-1, slope.shape[-1])
    used = rows.abs().sum(-1).nonzero()[:, 0].tolist() or [0]
    kept = rows[used[0] : used[-1] + 1]
    return [HeadShares(call, place, head, used[0], kept) for head in range(call.n_heads)]


# --- the same edges cut -------------------------------------------------------------------------


def _changes_without(result: DirectByToken, cells: Sequence[Cell]) -> Float64[np.ndarray, " cell"]:
    """The change of the number without the edges of each cell, one row of a batch for each."""
    prepared = result.prepared
    shares = [result.shares[place] for place, _ in cells]
    taken = [_taken(share, key) for share, (_, key) in zip(shares, cells, strict=True)]

    def without(values: Tensor, pairs: Pairs) -> Tensor:
        return values - torch.stack([taken[row] for row in pairs.rows.tolist()]).to(values)

    sites = prepared.layout.calls
    rows = [RowChange((sites[share.place],), "mixed", (without,), share.head) for share in shares]
    if isinstance(result.number, ScoreCell):
        numbers = _scores(prepared, result.number, rows).double()
        return (numbers[:-1] - numbers[-1]).numpy()
    changed, own = changed_rows(prepared, rows)
    return changed.double().numpy() - own


def _taken(share: HeadShares, key: int) -> Float[Tensor, "query d_value"]:
    """The part that the edges of a cell bring to the head's output: α[q, key] · v[key]."""
    weights, v = share.look()
    brought = v.new_zeros(share.call.n_query, v.shape[1])
    brought[share.queries] = weights[:, key, None] * v[key]
    return brought


def _scores(
    prepared: CleanRun, cell: ScoreCell, rows: Sequence[RowChange]
) -> Float[Tensor, " row"]:
    """The centred score with one side from each changed row, and in the last row without change."""
    lm, head = prepared.lm, cell.head.head
    with (
        lm.lock,
        torch.no_grad(),
        changes_made(lm.model, by_place(rows)),
        record(lm.model) as calls,
    ):
        lm.model(**prepared.repeated(len(rows) + 1), **prepared.options)
    _, clean = head_called(traced_run(prepared), cell.head)
    changed = calls[traced_run(prepared).calls.index(clean)].inputs
    own = clean.inputs
    assert isinstance(own, AttentionInputs) and isinstance(changed, AttentionInputs)
    assert head is not None, "one head"
    q, k, _ = own.qkv(head)
    row = visible_keys(cell.head, clean, cell.query, cell.key)
    centre = centred_at(cell.key, row).to(k)
    if cell.side == "q":
        return own.scaling * (changed.query[:, head, cell.query].float() @ (k.T @ centre)).cpu()
    keys = changed.key[:, own.kv_head(head)].float()
    return own.scaling * ((keys @ q[cell.query]) @ centre).cpu()
