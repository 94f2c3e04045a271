"""A circuit that is really cut out: the edges that are kept, and how much of the answer they keep.

In: a frozen `CutOutView` with the whole curve: a slider moves without the server. It is made of a
`CutOut`, the numbers of a `Circuit` without the run behind them, so that they can be kept. Out: the
number of edges that a visitor keeps (event `kept`). Beside the circuit, kept alone and cut away
alone, stand as many random edges.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from jaxtyping import Float32

from attnviz.i18n import Language, text
from attnviz.i18n import numbers as written
from attnviz.pictures.shared.canvas import INLINE, Canvas
from attnviz.types import Site

if TYPE_CHECKING:
    from attnviz.experiment.circuit import Circuit

Side = Literal["q", "k", "v"]
MAX_EDGES = 120  # that are drawn and listed
OVER = 1.005  # a share that prints as more than 100 %


@dataclass(frozen=True)
class CutEdge:
    """An edge of the stream: what it changes by coming from the other text.

    `side` is the input of a head that it ends in, None for an MLP or the answer; `exact` is False
    for a change that was only estimated.
    """

    sender: str
    receiver: str
    side: Side | None
    change: float
    exact: bool


@dataclass(frozen=True, eq=False)
class CutOut:
    """The numbers, in no language: the first `edges`, those that matter most first, and the curves.

    `n_exact` of all edges were run, the others only estimated; the two have a correlation.
    `columns` have the nodes in the order of the pass. Curves are shares of the way from the `other`
    text's number to this one's, `before`, at each number of `points`.
    """

    n_edges: int
    n_exact: int
    before: float
    other: float
    least: int | None
    correlation: float
    points: tuple[int, ...]
    columns: tuple[tuple[str, ...], ...]
    edges: tuple[CutEdge, ...]
    faithful: Float32[np.ndarray, "point"]
    complete: Float32[np.ndarray, "point"]
    random_faithful: Float32[np.ndarray, "draw point"]
    random_complete: Float32[np.ndarray, "draw point"]


@dataclass(frozen=True, eq=False)
class CutOutView:
    """The circuit with its texts; `number` names what is measured, `kept` is on the slider."""

    circuit: Annotated[CutOut, INLINE]
    number: str
    sentences: tuple[str, ...]
    kept: int


CANVAS = Canvas("cut_out", (CutOutView,))


def numbers(found: "Circuit") -> CutOut:
    """The numbers of a circuit."""
    edges = [
        CutEdge(
            found.edges[at][0],
            found.edges[at][1].name,
            found.edges[at][1].side,
            float(found.estimate[at] if np.isnan(found.exact[at]) else found.exact[at]),
            not bool(np.isnan(found.exact[at])),
        )
        for at in found.order[:MAX_EDGES]
    ]
    return CutOut(
        n_edges=len(found.edges),
        n_exact=int((~np.isnan(found.exact)).sum()),
        before=found.before,
        other=found.other,
        least=found.least,
        correlation=found.agreement[0],
        points=found.points,
        columns=_columns(found),
        edges=tuple(edges),
        faithful=found.faithful.astype(np.float32),
        complete=found.complete.astype(np.float32),
        random_faithful=found.random_faithful.astype(np.float32),
        random_complete=found.random_complete.astype(np.float32),
    )


def _columns(found: "Circuit") -> tuple[tuple[str, ...], ...]:
    """The nodes in the order of the pass; the heads of a layer share a column.

    Keys and values that several heads share are nodes of their own, above those heads.
    """
    model = found.work.model
    columns: list[list[str]] = []
    last: object = None
    names = list(dict.fromkeys([*model.senders, *(each.name for each in model.receivers)]))
    layers = {name: _layer(name) for name in names}
    for name in (*model.senders, model.receivers[-1].name):
        layer = layers[name]
        if layer is None or layer != last:
            shared = [] if layer is None else [each for each in names if layers[each] == layer]
            columns.append([name] if layer is None else shared)
        last = layer
    return tuple(map(tuple, columns))


def _layer(name: str) -> str | None:
    """The layer of a head, or of several heads that share keys; None for other nodes."""
    layer, dot, _ = name.partition(".H")
    return layer if dot and Site.parse(layer) is not None else None


def view(lang: Language, circuit: CutOut, number: str, kept: int | None) -> CutOutView:
    """The circuit in words; without a choice the fewest edges that keep 90 % of the answer."""
    points = circuit.points
    start = kept if kept is not None else (circuit.least or points[-1])
    nearest = min(points, key=lambda n: (abs(n - start), n))
    sentences = [
        text(
            lang,
            "cut_out.least" if circuit.least is not None else "cut_out.never",
            n=circuit.least or 0,
            total=circuit.n_edges,
            number=number,
            before=written.number(lang, circuit.before, ".2f"),
            other=written.number(lang, circuit.other, ".2f"),
        ),
        text(lang, "cut_out.no_sum"),
        text(
            lang,
            "cut_out.estimates",
            pearson=written.number(lang, circuit.correlation, ".2f"),
            n=circuit.n_exact,
        ),
    ]
    if float(circuit.faithful.max()) >= OVER:
        sentences.append(text(lang, "cut_out.over"))
    return CutOutView(circuit, number, tuple(sentences), nearest)
