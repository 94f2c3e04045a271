"""The whole answer without single edges of any heads: many cuts as rows of one batch.

In: a prepared input, its answer, and edges (head, query, key). Out: `Cuts`: for each edge its
weight and how far the answer moves without it, beside what the model says then. `edges` asks about
one head and estimates first; here every edge is run. The two numbers side by side are the point:
most edges with a large weight move nothing.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32, Float64, Int64
from torch import Tensor

from attnviz.changes.site import place_among
from attnviz.errors import TooLarge, bad_kind, require_callback
from attnviz.experiment.answers import AnswerReader
from attnviz.experiment.clean_run import CleanRun
from attnviz.experiment.edges import HeadEdges, cut_rows
from attnviz.experiment.effects import OtherHeads
from attnviz.experiment.rows import batches, read_rows
from attnviz.summary import counted
from attnviz.types import Kind, Site, Stack, Where, ignore

Edge = tuple[Where, int, int]
HeadEdge = tuple[Site, int, int]
Wanted = tuple[HeadEdges, int, int]
ROWS = 128
MOST_MIB = 512


@dataclass(frozen=True, eq=False)
class Cuts:
    """The answer without each of some edges.

    `moved` is the distance from the answer without changes, 0 to 1: of probabilities the part that
    changes its place. `numbers` has one number for each of the `choices` that were kept. `winners`
    are the largest choices, with their `names`, and `winner` the one without changes. `spread` is
    the largest `moved` of a row without changes: rows of a batch differ by rounding.
    """

    edges: tuple[HeadEdge, ...]
    renormalised: bool
    weights: Float64[np.ndarray, " edge"]
    moved: Float64[np.ndarray, " edge"]
    winner: int
    winners: Int64[np.ndarray, " edge"]
    names: tuple[str, ...]
    choices: tuple[int, ...]
    numbers: Float32[np.ndarray, "edge choice"]
    spread: float

    @property
    def flips(self) -> tuple[int, ...]:
        """The cuts after which another choice is the largest, the largest `moved` first."""
        places = np.flatnonzero(self.winners != self.winner)
        return tuple(int(at) for at in places[np.argsort(-self.moved[places], kind="stable")])

    def others(self, head: Where) -> OtherHeads:
        """All other heads whose same look was cut, the control of this one's; see `same_look`.

        >>> run = attnviz.experiment("stories", "Lily gave the red ball to")
        >>> str(run.cuts(run.same_look(6, 4)).others("L2.H1").strongest)
        'L0.H2'
        """
        heads = tuple(site for site, _, _ in self.edges)
        own = place_among(head, heads, "has no look that was cut; the cuts are those of")
        cell = self.edges[own][1:]
        same = [at for at, edge in enumerate(self.edges) if edge[1:] == cell and at != own]
        return OtherHeads(tuple(heads[at] for at in same), self.moved[same])

    def to_dict(self) -> dict[str, list[Any]]:
        """A row for each cut, as lists."""
        heads, queries, keys = zip(*self.edges, strict=True) if self.edges else ((), (), ())
        return {
            "head": [str(head) for head in heads],
            "query": list(queries),
            "key": list(keys),
            "weight": self.weights.tolist(),
            "moved": self.moved.tolist(),
            "winner": list(self.names),
        }

    def __repr__(self) -> str:
        first = ", ".join(
            f"{self.edges[at][0]} {self.edges[at][1]}→{self.edges[at][2]} {self.moved[at]:.3g}"
            for at in np.argsort(-self.moved, kind="stable")[:3]
        )
        n = counted(len(self.edges), "cut")
        return f"Cuts: {n}, {len(self.flips)} of them with another winner: {first}"


def cuts(
    prepared: CleanRun,
    reader: AnswerReader,
    edges: Sequence[Edge] | None = None,
    choices: Sequence[int] | None = None,
    renormalise: bool = True,
    rows: int = ROWS,
    progress: Callable[[float], None] = ignore,
    cancel: threading.Event | None = None,
) -> Cuts:
    """The answer without each of the edges; without any named, of all that leave a choice.

    `rows` go into one batch. `progress` is told what fraction is done; raises `Cancelled` soon
    after `cancel` was set.
    """
    require_callback(progress)
    if edges is None:
        heads = prepared.layout.heads
        every = [HeadEdges.of(prepared, head, renormalise) for head in heads]
        wanted = [(work, query, key) for work in every for query, key in work.with_choice()]
    else:
        named = {str(where): HeadEdges.of(prepared, where, renormalise) for where, _, _ in edges}
        wanted = [(named[str(where)], query, key) for where, query, key in edges]
        for work, query, key in wanted:
            work.checked([(query, key)])
    kept = range(len(reader.clean)) if choices is None else choices
    mib = 4 * len(wanted) * len(kept) // 2**20
    if mib > MOST_MIB:
        raise TooLarge(
            f"{len(wanted)} cuts with {len(kept)} numbers each take {mib} MiB, more than"
            f" {MOST_MIB} MiB: give fewer edges, or the choices= that are to be kept",
            code="too_many_vectors",
            found=mib,
            limit=MOST_MIB,
            unit="MiB",
        )
    read = _reading(reader, list(kept))

    def answers(some: Sequence[Wanted]) -> np.ndarray:
        return read_rows(prepared, cut_rows(some), read).numpy()

    moved, winners, numbers, spread = _run(answers, wanted, 2 + len(kept), rows, progress, cancel)
    works = {str(work.head): work for work, _, _ in wanted}
    weights = {head: work.recorded.weights(work.number).cpu() for head, work in works.items()}
    names = {int(at): reader.name(int(at)) for at in np.unique(winners)}
    return Cuts(
        edges=tuple((work.head, query, key) for work, query, key in wanted),
        renormalised=renormalise,
        weights=np.array(
            [float(weights[str(work.head)][query, key]) for work, query, key in wanted]
        ),
        moved=moved,
        winner=int(reader.clean.argmax()),
        winners=winners,
        names=tuple(names[int(at)] for at in winners),
        choices=tuple(kept),
        numbers=numbers,
        spread=spread,
    )


def same_look(
    prepared: CleanRun, query: int, key: int, kind: Kind = "self", stack: Stack | None = None
) -> tuple[HeadEdge, ...]:
    """The look from a query at a key, of every head of one attention that has it and a choice.

    Raises `BadInput` where the model has no such attention.
    """
    heads = prepared.layout.heads
    own = [head for head in heads if (head.kind, head.stack) == (kind, stack)]
    if not own:
        raise bad_kind(kind, stack, ((head.kind, head.stack) for head in heads))
    works = [HeadEdges.of(prepared, head, renormalise=True) for head in own]
    return tuple((work.head, query, key) for work in works if work.has_choice(query, key))


def _reading(reader: AnswerReader, kept: list[int]) -> Callable[[Any], Tensor]:
    """A function that reads of each row its distance, its winner, and the numbers kept."""

    def read(output: Any) -> Tensor:
        numbers = reader.read(output)
        moved, winner = reader.moved(output), numbers.argmax(-1)
        return torch.cat([moved[:, None], winner[:, None], numbers[:, kept]], dim=1)

    return read


def _run(
    answers: Callable[[Sequence[Wanted]], Float32[np.ndarray, "row number"]],
    wanted: Sequence[Wanted],
    width: int,
    rows: int,
    progress: Callable[[float], None],
    cancel: threading.Event | None,
) -> tuple[
    Float64[np.ndarray, " edge"],
    Int64[np.ndarray, " edge"],
    Float32[np.ndarray, "edge choice"],
    float,
]:
    """(how far each answer moves, its winner, the numbers kept, how far clean rows were off)."""
    found = [np.zeros((1, width), np.float32)]
    found += [answers(wanted[some]) for some in batches(len(wanted), rows, progress, cancel)]
    table = np.concatenate([answer[:-1] for answer in found])
    spread = max(float(answer[-1, 0]) for answer in found)
    return table[:, 0].astype(np.float64), table[:, 1].astype(np.int64), table[:, 2:], spread
