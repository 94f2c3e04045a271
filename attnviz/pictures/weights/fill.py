"""The circuits of a model's weights, as what the page shows of one head.

In: `Circuits` of the library and a head. Out: the numbers without the model, so that they can be
kept; and the view in a language. Nothing is measured here: shares, weights and compositions are
those of the library.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from jaxtyping import Float32

from attnviz.errors import TooLarge, UnsupportedAttention
from attnviz.i18n import Language, has, text
from attnviz.i18n.numbers import number
from attnviz.pictures.weights import (
    CircuitShare,
    ComposedPair,
    Through,
    WeightsHead,
    WeightsView,
)
from attnviz.types import Site

if TYPE_CHECKING:
    from attnviz.experiment.weights_alone.circuits import Circuits
    from attnviz.experiment.weights_alone.results import Composition, TokenCircuit

SIDES: tuple[Literal["q", "k", "v"], ...] = ("q", "k", "v")
LISTED = 6  # heads that the chosen one reads, and that read it
COPIED = 0.5  # of all tokens: the head copies them one by one
EVENLY = 0.02  # at no distance a mean weight is further from attention spread evenly
# the beginning of each line of `Folded` that the page says in the visitor's language
LEFT_OUT = {
    "σ of": "sigma",
    "β of": "biases",
    "rotary": "rotary",
    "the position bias": "bias",
    "norms between": "between",
}


@dataclass(frozen=True, eq=False)
class WeightsFound:
    """The numbers of the view, in no language; `left_out` names what weights alone leave out."""

    heads: tuple[Site, ...]
    columns: dict[str, Float32[np.ndarray, " head"]]
    shares: tuple[CircuitShare, ...]
    distances: tuple[int, ...]
    weights: Float32[np.ndarray, " distance"]
    even: Float32[np.ndarray, " distance"]
    baseline: float
    reads: tuple[ComposedPair, ...]
    read_by: tuple[ComposedPair, ...]
    candidates: int  # of which the heads that it reads are the largest
    norms_between: bool
    left_out: tuple[str, ...]


def numbers(circuits: "Circuits", heads: Sequence[Site], head: Site) -> WeightsFound:
    """The numbers of one head, and the columns of those that are listed."""
    shares = [
        share
        for circuit in (circuits.ov, circuits.qk)
        for through in get_args(Through)
        if (share := _known(partial(circuit, head, through))) is not None
    ]
    by_distance = _known(partial(circuits.by_distance, head))
    distances = np.zeros(0, np.int64) if by_distance is None else by_distance.distances
    weights = np.zeros(0) if by_distance is None else by_distance.weights
    composed = [side for name in SIDES if (side := _composition(circuits, name))]
    reads = _pairs(composed, head, reads=True)
    table, places = circuits.to_dict(), [circuits.heads.index(each) for each in heads]
    columns = {
        name: np.array([table[name][place] for place in places], np.float32)
        for name in ("ov", "ov_mlp0", "qk", "qk_mlp0", "previous")
    }
    return WeightsFound(
        heads=tuple(heads),
        columns={**columns, "composed": _most_read(composed, places, len(heads))},
        shares=tuple(map(_share, shares)),
        distances=tuple(distances.tolist()),
        weights=weights.astype(np.float32),
        even=_even(distances).astype(np.float32),
        baseline=composed[0].baseline if composed else float("nan"),
        reads=reads[:LISTED],
        read_by=_pairs(composed, head, reads=False)[:LISTED],
        candidates=len(reads),
        norms_between=circuits.layers.between,
        left_out=circuits.folded.left_out,
    )


def _known(compute: Any) -> Any:
    """A result, None where the weights alone do not give it."""
    try:
        return compute()
    except UnsupportedAttention:
        return None


def _composition(circuits: "Circuits", side: Any) -> "Composition | None":
    try:
        return circuits.composition(side)
    except (TooLarge, UnsupportedAttention):
        return None


def _share(found: "TokenCircuit") -> CircuitShare:
    return CircuitShare(
        circuit=found.circuit,
        through=found.through,
        share=found.share,
        low=float(found.shuffled.min()),
        high=float(found.shuffled.max()),
        draws=len(found.shuffled),
        first=round(found.own_first * found.n_tokens),
        vocab=found.n_vocab,
        positive=100 * found.own_positive,
        positive_low=100 * float(found.shuffled_positive.min()),
        positive_high=100 * float(found.shuffled_positive.max()),
        n=found.n_tokens,
        real=tuple(found.eigenvalues.real.tolist()),
        imaginary=tuple(found.eigenvalues.imag.tolist()),
    )


def _even(distances: np.ndarray) -> np.ndarray:
    """The mean weight at each distance if every row spread its attention evenly."""
    n = int(distances.max(initial=-1)) + 1
    if n and distances.min() < 0:
        return np.full(len(distances), 1 / n)
    rows = 1 / np.arange(1, n + 1)
    return np.array([rows[distance:].mean() for distance in distances])


def _most_read(
    composed: Sequence["Composition"], places: Sequence[int], n: int
) -> Float32[np.ndarray, " head"]:
    """The largest score with which each head can read an earlier one."""
    if not composed:
        return np.full(n, np.nan, np.float32)
    scores = np.stack([side.values[:, places] for side in composed])
    most = np.nan_to_num(scores, nan=-np.inf).max((0, 1))
    return np.where(np.isfinite(most), most, np.nan).astype(np.float32)


def _pairs(
    composed: Sequence["Composition"], head: Site, *, reads: bool
) -> tuple[ComposedPair, ...]:
    """The heads that the chosen one can read, or that can read it, the best fit first."""
    pairs = []
    for side in composed:
        own = side.heads.index(head)
        values, z = (table[:, own] if reads else table[own] for table in (side.values, side.z))
        for place in np.flatnonzero(np.isfinite(z)):
            value, square = float(values[place]), side.baseline**2
            sd = abs((value**2 - square) / z[place]) if z[place] else 0.0
            low, high = (float(np.sqrt(max(0.0, square + sign * 2 * sd))) for sign in (-1, 1))
            other = side.heads[place]
            at = side.beside(*((other, head) if reads else (head, other)))
            pairs.append(
                ComposedPair(
                    name=str(other),
                    side=side.side,
                    value=value,
                    low=low,
                    high=high,
                    rank=at.rank,
                    n=at.n,
                    median=at.median,
                )
            )
    return tuple(sorted(pairs, key=lambda pair: -pair.value))


# --- in words -------------------------------------------------------------------------------------


def view(lang: Language, found: WeightsFound, head: Site) -> WeightsView:
    """The numbers with their sentences."""
    named = (WeightsHead(str(each), each.layer, each.head or 0) for each in found.heads)
    return WeightsView(
        heads=tuple(named),
        **found.columns,
        chosen=found.heads.index(head),
        sentences=tuple(_sentences(lang, found, str(head))),
        notes=tuple(_notes(lang, found)),
        shares=found.shares,
        distances=found.distances,
        weights=found.weights,
        even=found.even,
        baseline=found.baseline,
        reads=found.reads,
        read_by=found.read_by,
    )


def _sentences(lang: Language, found: WeightsFound, head: str) -> list[str]:
    """The verdict on copying, the distance that positions prefer, and the head it can read best."""
    said = _copying(lang, found, head)
    if found.distances:
        said.append(_by_distance(lang, found))
    if found.reads:
        best = found.reads[0]
        said.append(
            text(
                lang,
                "weights.reads",
                head=head,
                sender=best.name,
                side=text(lang, f"component.circuit.side_{best.side}"),
                value=number(lang, best.value, ".3f"),
                baseline=number(lang, found.baseline, ".3f"),
                rank=best.rank,
                n=best.n,
                candidates=found.candidates,
                median=number(lang, best.median, ".3f"),
            )
        )
    return said


def _by_distance(lang: Language, found: WeightsFound) -> str:
    """The distance whose weight is furthest above even attention, if any is."""
    above = found.weights - found.even
    if np.nanmax(np.abs(above)) <= EVENLY:
        return text(lang, "weights.evenly", most=number(lang, EVENLY, ".2f"))
    at = int(np.nanargmax(above))
    distance = found.distances[at]
    backwards = "far_end" if distance == max(found.distances) else "distance"
    name = "itself" if distance == 0 else "ahead" if distance < 0 else backwards
    return text(
        lang,
        f"weights.{name}",
        n=abs(distance),
        weight=number(lang, found.weights[at], ".2f"),
        even=number(lang, found.even[at], ".2f"),
    )


def _copying(lang: Language, found: WeightsFound, head: str) -> list[str]:
    """The copying score as the head reads tokens, how many it copies, and the other reading."""
    ov = {share.through: share for share in found.shares if share.circuit == "OV"}
    if not ov:
        reason = "norms" if found.norms_between and not found.shares else "tokens"
        return [text(lang, f"weights.no_{reason}", head=head)]
    last = ov.get("mlp0") or ov["embedding"]
    outside = not last.low <= last.share <= last.high
    verdict = "neither" if not outside else "copies" if last.share > 0 else "against"
    said = [
        text(
            lang,
            f"weights.{verdict}",
            head=head,
            tokens=text(lang, f"weights.tokens_{last.through}"),
            share=_signed(lang, last.share),
            draws=last.draws,
            low=_signed(lang, last.low),
            high=_signed(lang, last.high),
        )
    ]
    if verdict == "copies":
        each = "each" if last.first >= COPIED * last.n else "on_the_whole"
        positive = (last.positive, last.positive_low, last.positive_high)
        up, low, high = (number(lang, percent, ".0f") for percent in positive)
        counts = {"first": number(lang, last.first), "n": last.n, "vocab": last.vocab}
        words = {"up": up, "low": low, "high": high, "draws": last.draws}
        said.append(text(lang, f"weights.{each}", **counts, **words))
    if len(ov) == 2 and ov["embedding"].share * last.share < 0:
        value = _signed(lang, ov["embedding"].share)
        said.append(text(lang, "weights.disagree", value=value))
    return said


def _notes(lang: Language, found: WeightsFound) -> list[str]:
    """The sentences on what weights alone leave out."""
    names = [
        name
        for line in found.left_out
        for start, name in LEFT_OUT.items()
        if line.startswith(start) and has(f"weights.left_{name}")
    ]
    return [text(lang, f"weights.left_{name}") for name in dict.fromkeys(names)]


def _signed(lang: Language, value: float) -> str:
    return number(lang, value, "+.2f")
