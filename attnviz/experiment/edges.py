"""The effect of each edge of one head: a weight is removed and the answer read again.

In: a model, a text, a head and a measure. Out: `Edges`: the weights, the lengths ‖α·f(x)‖, and for
every cell a first-order estimate of what the answer loses with it; the cells with the largest are
run, exactly, as rows of one batch. Of the ten largest exact effects all were among the fifty
largest estimates in every test. "Weight is not effect": most edges with a large weight do nothing.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, Float64
from torch import Tensor

from attnviz.attention import formula
from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import ALL_ROWS, AttentionInputs
from attnviz.attention.stage_changes import ChangeableStage
from attnviz.capture.changed import functions
from attnviz.capture.changed.layout import CallSite
from attnviz.capture.changed.resolve import require_changeable
from attnviz.errors import BadInput, UnsupportedAttention, require_index
from attnviz.experiment.answer_measures import AnswerMeasure
from attnviz.experiment.clean_run import CleanRun
from attnviz.experiment.effects import one_site
from attnviz.experiment.first_order import Slopes, slopes
from attnviz.experiment.readouts import readout
from attnviz.experiment.rows import Baseline, RowChange, batches, changed_rows, clean_pass
from attnviz.summary import counted
from attnviz.types import Site, Where

EXACT = 50
PASS_EDGES = 64
HEAVY = 0.5  # the weight from which an edge without an effect is worth a word
WHOLE_ROW = 1 - 1e-6  # a weight that is all of its row: the head is left with nothing
Cell = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of one head, [query, key]; NaN where the mask leaves no edge.

    `estimate` is to first order of `estimated`; `exact` is NaN where it was not computed. Both are
    the change of the number when the edge is taken away, the rest of the row `renormalised` or not.
    `norms` are ‖α·f(x)‖ (Kobayashi et al. 2020), None where W_O is not known.
    """

    measure: AnswerMeasure | None
    unit: str
    head: Site
    before: float
    renormalised: bool
    weights: Float32[np.ndarray, "query key"]
    norms: Float32[np.ndarray, "query key"] | None
    estimate: Float64[np.ndarray, "query key"]
    exact: Float64[np.ndarray, "query key"]
    estimated: str
    spread: float
    seconds: float

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells that were computed exactly, the largest effect first."""
        places = np.argwhere(~np.isnan(self.exact))
        order = np.argsort([-abs(self.exact[tuple(cell)]) for cell in places], kind="stable")
        return tuple((int(q), int(k)) for q, k in places[order])

    def idle(self, count: int = 10, least: float = HEAVY) -> tuple[Cell, ...]:
        """Heavy but idle cells: a weight of `least` or more whose effect is among the smallest.

        An effect counts as small below 1 % of the largest one. It is exact, or exactly 0 since
        nothing behind the query depends on it; an estimate that is merely small names no cell. Rows
        with a single key are left out.
        """
        known = np.where(np.isnan(self.exact) & (self.estimate == 0), 0.0, self.exact)
        largest = np.nanmax(np.abs(known)) if np.isfinite(known).any() else 0.0
        several = (~np.isnan(self.estimate)).sum(1, keepdims=True) > 1
        heavy = (self.weights >= least) & several & (np.abs(known) <= 0.01 * largest)
        places = sorted(map(tuple, np.argwhere(heavy)), key=lambda at: -float(self.weights[at]))
        return tuple((int(q), int(k)) for q, k in places[:count])

    def to_dict(self) -> dict[str, list[int] | list[float]]:
        """A row for each cell that was computed exactly, the largest effect first, as lists."""
        queries, keys = [query for query, _ in self.cells], [key for _, key in self.cells]
        numbers = {"weight": self.weights, "estimate": self.estimate, "exact": self.exact}
        columns = {name: table[queries, keys].tolist() for name, table in numbers.items()}
        return {"query": queries, "key": keys, **columns}

    def __repr__(self) -> str:
        first = ", ".join(f"{q}→{k} {self.exact[q, k]:+.3g}" for q, k in self.cells[:3])
        n = counted(len(self.cells), "exact cell")
        return f"Edges of {self.head} on {self.before:.4g} {self.unit}: {n}: {first}"


def edges(
    prepared: CleanRun,
    head: Where,
    *,
    exact: int = EXACT,
    cells: Sequence[Cell] | None = None,
    row: int | None = None,
    renormalise: bool = False,
) -> Edges:
    """The effect of every edge of a head, estimated, and computed where it matters, or of `cells`.

    Of the largest estimates `exact` are computed, and as many heavy edges at most that may be idle.
    `renormalise` gives the weight of a cut edge to the rest of its row, as if a mask had hidden the
    key. The `exact` heaviest edges of the query `row` are computed too; for a measure without a
    first order these alone.
    """
    start = time.perf_counter()
    resolved = readout(prepared)
    work = HeadEdges.of(prepared, head, renormalise)
    estimate = work.nothing()
    if resolved.linear is not None or (cells is None and row is None):
        estimate = work.estimate(slopes(prepared))
    chosen = _largest(estimate, exact) if cells is None else work.checked(cells)
    if cells is None and exact:
        chosen = list(dict.fromkeys([*chosen, *work.heavy(estimate, exact)]))
    if row is not None:
        chosen = list(dict.fromkeys([*chosen, *work.heaviest(row, exact)]))
    computed, spread = work.exact(chosen)
    call = work.recorded
    return Edges(
        measure=prepared.on,
        unit=resolved.unit,
        head=work.head,
        before=work.clean.value,
        renormalised=renormalise,
        weights=call.weights(work.number).cpu().numpy(),
        norms=_norms(call, work.number),
        estimate=estimate,
        exact=computed,
        estimated=resolved.estimated,
        spread=spread,
        seconds=time.perf_counter() - start,
    )


def _largest(estimate: Float64[np.ndarray, "query key"], count: int) -> list[Cell]:
    """The cells with the largest estimates, none of 0; a row with a single key has no choice."""
    several = (~np.isnan(estimate)).sum(1, keepdims=True) > 1
    sizes = np.where(several, np.abs(np.nan_to_num(estimate)), 0.0)
    order = np.argsort(-sizes, axis=None, kind="stable")[: max(0, count)]
    places = zip(*np.unravel_index(order, sizes.shape), strict=True)
    return [(int(q), int(k)) for q, k in places if sizes[q, k] > 0]


def _norms(call: AttentionCall, head: int) -> Float32[np.ndarray, "query key"] | None:
    """‖α·f(x)‖ of every cell."""
    layer, stages = call.projections.get("out"), call.stages(head)
    if layer is None:
        return None
    v = stages["v"]
    rows = layer.rows(head, v.shape[1]).float()
    lengths: np.ndarray = (stages["weights"] * (v @ rows).norm(dim=1)).cpu().numpy()
    return lengths


def effective(
    call: AttentionCall, head: int, rows: slice = ALL_ROWS
) -> tuple[Float[Tensor, "row key"], Float[Tensor, "key d_value"], Float[Tensor, "row d_value"]]:
    """(the weights that multiply a head's values, a sink's gate included; the values; the output).

    `rows` limits the queries. Weights and output are those of these rows.
    """
    inputs, stages = call.inputs, call.inputs.stages(head, 0, rows=rows)
    weights = stages["weights"]
    if isinstance(inputs, AttentionInputs) and inputs.sinks_gate and inputs.sinks is not None:
        sink = inputs.sinks[head].float().reshape(1, 1)
        weights = weights * formula.sink_gate(stages["masked"], sink)
    return weights, stages["v"], stages["mixed"]


@dataclass(frozen=True, eq=False)
class HeadEdges:
    """One head of one prepared text."""

    prepared: CleanRun
    head: Site
    call: CallSite
    recorded: AttentionCall
    renormalise: bool

    @classmethod
    def of(cls, prepared: CleanRun, head: Where, renormalise: bool) -> "HeadEdges":
        """Raises `BadInput` for no head of this model, `UnsupportedAttention` for own code."""
        own = one_site(prepared.layout, head)
        call = prepared.layout.find(own)[0]
        require_changeable(own, call)
        if call.windowed:
            raise UnsupportedAttention(
                f"single edges of {own} cannot be cut in rows of a batch: the model computes"
                " attention inside windows",
                code="edges_out_of_reach",
                head=str(own),
            )
        return cls(prepared, own, call, prepared.call_of(own), renormalise)

    @cached_property
    def clean(self) -> Baseline:
        """The measure's number without changes."""
        return clean_pass(self.prepared)

    @property
    def number(self) -> int:
        """The head within its layer."""
        assert self.head.head is not None, "one head"
        return self.head.head

    @property
    def seen(self) -> Bool[Tensor, "query key"]:
        """The edges that there are."""
        inputs = self.recorded.inputs
        assert isinstance(inputs, AttentionInputs), "own code is refused"
        may_attend = inputs.may_attend(self.number)
        shape = self.recorded.n_query, self.recorded.n_key
        return torch.ones(shape, dtype=torch.bool) if may_attend is None else may_attend.cpu()

    def nothing(self) -> Float64[np.ndarray, "query key"]:
        """NaN for every cell."""
        return np.full((self.recorded.n_query, self.recorded.n_key), np.nan)

    def estimate(self, gradients: Slopes) -> Float64[np.ndarray, "query key"]:
        """−α·(g·v), or α ÷ (1 − α)·g·(z − v) where the row is renormalised."""
        g = gradients.slope[self.call.place][:, self.number]
        weights, v, z = effective(self.recorded, self.number)
        by_value, by_output = g @ v.T, (g * z).sum(-1, keepdim=True)
        change = -weights * by_value
        if self.renormalise:
            rest = (1 - weights).clamp(min=1 - WHOLE_ROW)
            moved = weights / rest * (by_output - by_value)
            change = torch.where(weights < WHOLE_ROW, moved, -by_output.expand_as(weights))
        table: np.ndarray = change.double().cpu().numpy()
        return np.where(self.seen.numpy(), table, np.nan)

    def checked(self, cells: Sequence[Cell]) -> list[Cell]:
        """The cells, each of which has to be an edge."""
        for query, key in cells:
            require_index("query", query, self.recorded.n_query)
            require_index("key", key, self.recorded.n_key)
            if not bool(self.seen[query, key]):
                raise BadInput(
                    f"{self.head} may not attend from {query} to {key}: the mask hides that key",
                    code="hidden_cell",
                    head=str(self.head),
                    query=query,
                    key=key,
                )
        return list(cells)

    def with_choice(self) -> list[Cell]:
        """The edges of rows that have more than one: a row with a single key has no choice."""
        several = self.seen & (self.seen.sum(1, keepdim=True) > 1)
        return [(query, key) for query, key in several.nonzero().tolist()]

    def has_choice(self, query: int, key: int) -> bool:
        """True for an edge whose row has another one."""
        require_index("query", query, self.recorded.n_query)
        require_index("key", key, self.recorded.n_key)
        row = self.seen[query]
        return bool(row[key]) and int(row.sum()) > 1

    def heaviest(self, query: int, count: int) -> list[Cell]:
        """The edges of a query with the largest weights."""
        require_index("query", query, self.recorded.n_query)
        weights = self.recorded.weights(self.number)[query].cpu()
        order = weights.masked_fill(~self.seen[query], -1.0).argsort(descending=True, stable=True)
        return [(query, int(key)) for key in order[:count] if bool(self.seen[query, key])]

    def heavy(self, estimate: Float64[np.ndarray, "query key"], count: int) -> list[Cell]:
        """The edges with the largest weights, of HEAVY or more, whose estimate is small, not 0.

        They may be idle, which an estimate alone does not show.
        """
        if not np.isfinite(estimate).any():
            return []
        weights = self.recorded.weights(self.number).cpu().numpy()
        small = (np.abs(estimate) <= np.nanmax(np.abs(estimate)) / 10) & (estimate != 0)
        several = (~np.isnan(estimate)).sum(1, keepdims=True) > 1
        places = np.argwhere(small & several & (weights >= HEAVY))
        order = np.argsort([-weights[tuple(cell)] for cell in places], kind="stable")[:count]
        return [(int(query), int(key)) for query, key in places[order]]

    def exact(self, cells: Sequence[Cell]) -> tuple[Float64[np.ndarray, "query key"], float]:
        """(the change of the number without each of some cells, how far clean rows were off)."""
        table, spread = self.nothing(), 0.0
        for batch in batches(len(cells), PASS_EDGES):
            some = cells[batch]
            rows = cut_rows([(self, *cell) for cell in some])
            numbers, own = changed_rows(self.prepared, rows)
            queries, keys = zip(*some, strict=True)
            table[queries, keys] = numbers.double().numpy() - own
            spread = max(spread, abs(own - self.clean.value))
        return table, spread


def cut_rows(edges: Sequence[tuple[HeadEdges, int, int]]) -> list[RowChange]:
    """Each edge cut in a row of its own; all are renormalised, or none."""
    renormalise = edges[0][0].renormalise
    queries, keys = torch.tensor([[q, k] for _, q, k in edges], dtype=torch.int64).unbind(1)
    function = functions.cut_by_row(queries, keys, renormalise)
    stage: ChangeableStage = "mask" if renormalise else "weights"
    return [RowChange((of.call,), stage, (function,), of.number) for of, _, _ in edges]
