"""The edges that carry an answer: estimated, run exactly, and really cut out of the model.

In: a run and one of another text of the same length, whose answer differs. Out: a `Circuit`. Every
edge of the stream (`edgewise`) is scored by integrated gradients (Hanna et al. 2024; one step alone
is attribution patching, Syed et al. 2023, which fails where a softmax is saturated),

    score[r, s] = Σ (written_s(other) − written_s) · mean over steps of ∂m/∂x_r,

the largest are run exactly, one edge from the other run each. Then the circuit is kept and all else
comes from the other run: faithfulness, with as many random edges as the control; and the circuit is
cut and all else kept: completeness. Edges do not add up: serial edges count again.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int64
from torch import Tensor

from attnviz.attention.tolerance import rounding
from attnviz.errors import BadInput, bad_argument, require_callback, require_wanted, whole
from attnviz.experiment.answer_measures import AnswerMeasure
from attnviz.experiment.clean_run import CleanRun
from attnviz.experiment.correlations import agreement
from attnviz.experiment.edgewise import Edgewise, Receiver, edgewise
from attnviz.experiment.patching import differing_places, require_apart
from attnviz.experiment.readouts import readout
from attnviz.experiment.rows import batches
from attnviz.experiment.traced_run import traced_run
from attnviz.summary import counted, text_table
from attnviz.types import ignore

EXACT = 200
STEPS = 5
DRAWS = 8
SEED = 0
ENOUGH = 0.9  # of the answer


@dataclass(frozen=True, eq=False)
class Circuit:
    """Every edge (sender, receiver) with its score, and how much of the answer the largest keep.

    `estimate` is the change of the number where an edge comes from the other run, to first order;
    `exact` the change itself, NaN where it was not run. `points` are numbers of edges in `order`,
    the largest |exact| first, then the largest |estimate|. `faithful` is the share of the gap
    between `other` (0) and `before` (1) with so many edges kept and all else from the other run,
    `complete` with these taken away and all else kept; the `random` ones are of as many edges drawn
    at random. A share above 1 says that edges against the answer were left out. `error` is how far
    the pass with all edges on is from the model.
    """

    measure: AnswerMeasure | None
    unit: str
    before: float
    other: float
    edges: tuple[tuple[str, Receiver], ...]
    estimate: Float64[np.ndarray, " edge"]
    exact: Float64[np.ndarray, " edge"]
    points: tuple[int, ...]
    faithful: Float64[np.ndarray, " point"]
    complete: Float64[np.ndarray, " point"]
    random_faithful: Float64[np.ndarray, "draw point"]
    random_complete: Float64[np.ndarray, "draw point"]
    error: float
    work: "EdgeWork"

    @cached_property
    def order(self) -> Int64[np.ndarray, " edge"]:
        """The edges, those that matter most first."""
        return ordered(self.estimate, self.exact)

    @property
    def least(self) -> int | None:
        """The fewest edges of `points` from which on 90 % of the answer is kept; None if never."""
        short = np.flatnonzero(self.faithful < ENOUGH)
        at = int(short[-1]) + 1 if len(short) else 0
        return self.points[at] if at < len(self.points) else None

    @property
    def agreement(self) -> tuple[float, float]:
        """(Pearson's, Spearman's) correlation of estimates and exact changes, the latter of sizes.

        A high rank correlation can hide that the largest changes are misjudged.
        """
        known = ~np.isnan(self.exact)
        return agreement(self.estimate[known], self.exact[known])

    def keep(self, n: int, *, of: "Circuit | None" = None) -> float:
        """The share of the answer with the first n edges kept and all else from the other run.

        `of` is the circuit of another pair of texts, whose first n edges are kept here: what keeps
        its own answer alone belongs to those words.
        """
        found = self if of is None else of
        if found.edges != self.edges:
            raise bad_argument(
                f"of= has {counted(len(found.edges), 'edge')} of another model: give a circuit of"
                " the same one",
                name="of",
                found=counted(len(found.edges), "edge"),
                allowed="a circuit of the same model",
            )
        if not 0 <= whole(n) <= len(self.edges):
            raise bad_argument(
                f"n={n} is no number of edges: there are {len(self.edges)}",
                name="n",
                found=str(n),
                allowed=f"0 to {len(self.edges)}",
            )
        kept = self.work.masks([found.order[:n]], kept=True)
        return float(self.work.shares(kept)[0])

    def to_dict(self) -> dict[str, list[str] | list[float]]:
        """A line for each edge, those that matter most first, as lists; NaN where not run."""
        return {
            "sender": [self.edges[at][0] for at in self.order],
            "receiver": [str(self.edges[at][1]) for at in self.order],
            "estimate": self.estimate[self.order].tolist(),
            "exact": self.exact[self.order].tolist(),
        }

    def __repr__(self) -> str:
        least = "more than all" if self.least is None else str(self.least)
        return (
            f"Circuit of {counted(len(self.edges), 'edge')} on {self.before:.4g} {self.unit}, other"
            f" {self.other:.4g}: {least} keep {ENOUGH:.0%}; print() shows the curve"
        )

    def __str__(self) -> str:
        """The curve beside random edges, and the edges that matter most."""
        curve = {
            "edges": [str(n) for n in self.points],
            "kept": [f"{share:.2f}" for share in self.faithful],
            "random kept": [f"{share:.2f}" for share in self.random_faithful.mean(0)],
            "cut": [f"{share:.2f}" for share in self.complete],
            "random cut": [f"{share:.2f}" for share in self.random_complete.mean(0)],
        }
        first = self.order[:12]
        edges = {
            "edge": [f"{self.edges[at][0]} → {self.edges[at][1]}" for at in first],
            "exact": [f"{self.exact[at]:+.2f}" for at in first],
            "estimate": [f"{self.estimate[at]:+.2f}" for at in first],
        }
        return f"{self!r}\n{text_table(curve, len(self.points))}\n{text_table(edges)}"


def ordered(
    estimate: Float64[np.ndarray, " edge"], exact: Float64[np.ndarray, " edge"]
) -> Int64[np.ndarray, " edge"]:
    """Edges that were run first, by |exact|, then the others by |estimate|."""
    known = ~np.isnan(exact)
    sizes = np.where(known, np.abs(np.nan_to_num(exact)), np.abs(estimate))
    return np.lexsort((-sizes, ~known)).astype(np.int64)


def circuit(
    prepared: CleanRun,
    other: CleanRun,
    *,
    exact: int | None = EXACT,
    steps: int = STEPS,
    draws: int = DRAWS,
    progress: Callable[[float], None] = ignore,
    cancel: threading.Event | None = None,
) -> Circuit:
    """The circuit of a run's number, between it and a run of another text of the same length."""
    require_callback(progress)
    differing_places(prepared, other)
    work = EdgeWork.of(prepared, other)
    estimate = work.estimate(steps)
    chosen = np.argsort(-np.abs(estimate), kind="stable")[:exact]
    run_exactly = np.full(len(work.edges), np.nan)
    n, size = len(chosen), work.model.rows
    for rows in batches(n, size, lambda done: progress(0.8 * done), cancel):
        some = chosen[rows]
        masks = work.masks(list(some[:, None]), kept=False)
        run_exactly[some] = work.numbers(masks) - work.before
    require_wanted(cancel)
    order, points = ordered(estimate, run_exactly), _points(len(work.edges))
    drawn = np.random.default_rng(SEED)
    orders = [order, *(drawn.permutation(len(order)) for _ in range(draws))]
    groups = [some[:n] for some in orders for n in points]
    kept, cut = (
        work.shares(work.masks(groups, kept=kept)).reshape(len(orders), -1)
        for kept in (True, False)
    )
    progress(1.0)
    return Circuit(
        measure=prepared.on,
        unit=readout(prepared).unit,
        before=work.before,
        other=work.other,
        edges=work.edges,
        estimate=estimate,
        exact=run_exactly,
        points=points,
        faithful=kept[0],
        complete=cut[0],
        random_faithful=kept[1:],
        random_complete=cut[1:],
        error=work.error,
        work=work,
    )


def _points(n_edge: int) -> tuple[int, ...]:
    """Numbers of edges along a curve: dense where circuits are small."""
    sizes = [*range(0, 21, 2), 24, 28, 32, 40, 50, 60, 80]
    sizes += [round(n_edge * share) for share in (0.25, 0.5, 0.75)]
    return tuple(sorted({size for size in sizes if size < n_edge} | {n_edge}))


@dataclass(frozen=True, eq=False)
class EdgeWork:
    """The switches of one run, with what every sender wrote in the other run."""

    prepared: CleanRun
    model: Edgewise
    start: Float[Tensor, "row token d_model"]
    other_start: Float[Tensor, "row token d_model"]
    wrote: Float[Tensor, "sender token d_model"]
    other_wrote: Float[Tensor, "sender token d_model"]
    before: float
    other: float
    error: float

    @classmethod
    def of(cls, prepared: CleanRun, other: CleanRun) -> "EdgeWork":
        """Raises `UnsupportedAttention` if all edges on is not the model, on either text."""
        output = readout(prepared).output
        models = [edgewise(traced_run(run), output) for run in (prepared, other)]
        starts = [model.start.tensor.detach().float() for model in models]
        starts = [start.reshape(1, *start.shape[-2:]) for start in starts]
        read, model = readout(prepared).read, models[0]
        numbers, wrote, error = [], [], 0.0
        with prepared.lm.lock, torch.no_grad():
            for start, own in zip(starts, models, strict=True):
                answer, written = model.forward(start)
                clean = own.answer.tensor.detach().float()
                n = min(answer.shape[-2], clean.shape[-2])  # one run may keep its last row alone
                off = float((answer[..., -n:, :] - clean[..., -n:, :]).abs().max())
                allowed = rounding(own.answer.tensor.dtype, float(clean.abs().max()) * 16)
                if not off <= allowed:
                    raise _not_the_model(prepared, off)
                error = max(error, off)
                numbers.append(float(read({output: answer})[0]))
                wrote.append(written[0])
        require_apart(numbers[0], numbers[1], readout(prepared).unit)
        return cls(
            prepared, model, starts[0], starts[1], wrote[0], wrote[1], numbers[0], numbers[1], error
        )

    @cached_property
    def places(self) -> Int64[np.ndarray, "edge end"]:
        """(receiver, sender) of every edge."""
        return self.model.allowed.nonzero().numpy()

    @cached_property
    def edges(self) -> tuple[tuple[str, Receiver], ...]:
        """(sender, receiver) of every edge."""
        ends = self.model.senders, self.model.receivers
        return tuple((ends[0][sender], ends[1][receiver]) for receiver, sender in self.places)

    def estimate(self, steps: int) -> Float64[np.ndarray, " edge"]:
        """Integrated gradients between the other run's embeddings and this one's."""
        read, output = readout(self.prepared).read, readout(self.prepared).output
        slopes: list[Tensor] = []
        for step in range(steps):
            start = torch.lerp(self.other_start, self.start, (step + 0.5) / steps)
            with self.prepared.lm.lock, torch.enable_grad():
                slopes.append(self.model.slopes(start, lambda x: read({output: x}).sum()))
        slope = torch.stack(slopes).mean(0)
        scores = torch.einsum("std,rtd->rs", self.other_wrote - self.wrote, slope)
        table: np.ndarray = scores.double().numpy()
        by_edge: np.ndarray = table[tuple(self.places.T)]
        return by_edge

    def masks(
        self, groups: Sequence[Int64[np.ndarray, "_"]], *, kept: bool
    ) -> Bool[Tensor, "group receiver sender"]:
        """Switches for each group of edges: only these are on, or all but these."""
        on = torch.full((len(groups), *self.model.allowed.shape), not kept)
        for row, group in enumerate(groups):
            receivers, senders = self.places[group].T
            on[row, receivers, senders] = kept
        return on

    def numbers(self, on: Bool[Tensor, "group receiver sender"]) -> Float64[np.ndarray, " group"]:
        """The number with each set of switches."""
        read, output = readout(self.prepared).read, readout(self.prepared).output
        found = []
        for rows in batches(len(on), self.model.rows):
            some = on[rows]
            embeddings = self.start.expand(len(some), -1, -1)
            with self.prepared.lm.lock, torch.no_grad():
                answer, _ = self.model.forward(embeddings, some, self.other_wrote)
                found.append(read({output: answer}).double())
        numbers: np.ndarray = torch.cat(found).numpy()
        return numbers

    def shares(self, on: Bool[Tensor, "group receiver sender"]) -> Float64[np.ndarray, " group"]:
        """The share of the gap from the other run's number to this one's."""
        shares: np.ndarray = (self.numbers(on) - self.other) / (self.before - self.other)
        return shares


def _not_the_model(prepared: CleanRun, off: float) -> BadInput:
    return BadInput(
        f"{prepared.lm.name} with all of its edges is off by {off:.2g} from the model itself: it"
        " does something between its layers that is not a plain residual stream",
        code="not_the_model",
        name=prepared.lm.name,
    )
