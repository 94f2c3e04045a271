"""The results of `attnviz.circuits`: each number with its control, printed in a few lines.

Frozen, numpy only. A share lies in −1 to 1, a composition in 0 to 1; what was folded into the
weights and what was left out stands in `Folded`.
"""

from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from jaxtyping import Complex128, Float64, Int64

from attnviz.changes.site import place_among
from attnviz.experiment.weights_alone.scores import Side
from attnviz.experiment.weights_alone.vocabulary import Through
from attnviz.summary import counted, shortened
from attnviz.types import Site, Where

CircuitName = Literal["OV", "QK"]


@dataclass(frozen=True)
class Folded:
    """The lists of what was folded into the weights exactly, and what they alone cannot say."""

    exact: tuple[str, ...]
    left_out: tuple[str, ...]

    def to_dict(self) -> dict[str, list[str]]:
        """Both lists."""
        return {"exact": list(self.exact), "left_out": list(self.left_out)}

    def __str__(self) -> str:
        lines = [f"folded in exactly: {text}" for text in self.exact]
        return "\n".join([*lines, *(f"left out: {text}" for text in self.left_out)])


@dataclass(frozen=True, eq=False)
class TokenCircuit:
    """One circuit of a head from token to token.

    `share` is Σ λ ÷ Σ |λ| of its eigenvalues: near 1 they are positive, and the own entries of the
    tokens (OV: logits, QK: scores) are above the mean in total, not for every token; near −1 below.
    Of `n_tokens` tokens, `own_positive` is the share whose own entry is above the mean of its row,
    `own_first` that whose own entry is the largest of its row, by chance 1 of `n_vocab`. `shuffled`
    and `shuffled_positive` have both shares for words in a random order, the control.
    """

    head: Site
    circuit: CircuitName
    through: Through
    eigenvalues: Complex128[np.ndarray, " d_head"]
    share: float
    own_first: float
    own_positive: float
    n_tokens: int
    n_vocab: int
    shuffled: Float64[np.ndarray, " draw"]
    shuffled_positive: Float64[np.ndarray, " draw"]

    def to_dict(self) -> dict[str, str | float | int | list[float]]:
        """Everything as numbers and lists; an eigenvalue as its real and imaginary part."""
        return {
            "head": str(self.head),
            "circuit": self.circuit,
            "through": self.through,
            "share": self.share,
            "own_first": self.own_first,
            "own_positive": self.own_positive,
            "n_tokens": self.n_tokens,
            "n_vocab": self.n_vocab,
            "shuffled": self.shuffled.tolist(),
            "shuffled_positive": self.shuffled_positive.tolist(),
            "real": self.eigenvalues.real.tolist(),
            "imaginary": self.eigenvalues.imag.tolist(),
        }

    def __repr__(self) -> str:
        chance = f"{self.shuffled.mean():+.2f} ± {self.shuffled.std():.2f}"
        return (
            f"{self.circuit} of {self.head} through {self.through}: {self.share:+.2f} (shuffled"
            f" words {chance}), own token above the mean for {self.own_positive:.0%} of"
            f" {self.n_tokens:,} (shuffled words {self.shuffled_positive.mean():.0%}), first for"
            f" {round(self.own_first * self.n_tokens):,} (chance 1 of {self.n_vocab:,})"
        )


@dataclass(frozen=True)
class BesideOthers:
    """The rank of a pair of heads among the `n` of the same two layers, and their median."""

    rank: int
    n: int
    median: float

    def __str__(self) -> str:
        return f"rank {self.rank} of {self.n} in these layers, median {self.median:.3f}"


@dataclass(frozen=True, eq=False)
class Composition:
    """The share of what each head writes that the q, k or v of a later head can read, 0 to 1.

    `values` are NaN where the sender does not write into what the receiver reads. `baseline` is
    1/√d_model, the root of the mean square over random rotations between the two; `z` says how many
    of their standard deviations the square lies above that mean. Both are exact. Trained weights
    are no random rotations, and z is large for many pairs at once: it says that a pair is above
    chance, not which pair stands out. For that `beside` has the rank of a pair among all pairs of
    heads of the same two layers; lists are ordered by the composition.
    """

    side: Side
    heads: tuple[Site, ...]
    values: Float64[np.ndarray, "sender receiver"]
    baseline: float
    z: Float64[np.ndarray, "sender receiver"]

    def of(self, sender: Where, receiver: Where) -> float:
        """One pair; `BadInput` for heads that the model does not have."""
        places = (place_among(head, self.heads, "is not a head of") for head in (sender, receiver))
        return float(self.values[tuple(places)])

    def beside(self, sender: Where, receiver: Where) -> "BesideOthers":
        """A pair among all pairs of heads of the same two layers, the control for "trained"."""
        i, j = (place_among(head, self.heads, "is not a head of") for head in (sender, receiver))
        layers = [head.whole_layer for head in self.heads]
        rows, columns = (np.array([layer == layers[place] for layer in layers]) for place in (i, j))
        value, others = self.values[i, j], self.values[np.ix_(rows, columns)]
        known = others[np.isfinite(others)]
        rank = 1 + int((known > value).sum()) if np.isfinite(value) else 0
        return BesideOthers(rank, len(known), float(np.median(known)) if len(known) else np.nan)

    def strongest(self, n: int = 10) -> tuple[tuple[Site, Site, float, float], ...]:
        """The (sender, receiver, composition, z) with the largest composition first."""
        order = np.argsort(-np.nan_to_num(self.values, nan=-1.0), axis=None, kind="stable")[:n]
        pairs = zip(*np.unravel_index(order, self.values.shape), strict=True)
        return tuple(
            (self.heads[i], self.heads[j], float(self.values[i, j]), float(self.z[i, j]))
            for i, j in pairs
            if not np.isnan(self.values[i, j])
        )

    def to_dict(self) -> dict[str, list[str] | list[float] | list[int]]:
        """A row for each pair there is, the largest composition first, as lists."""
        rows = self.strongest(self.values.size)
        others = [self.beside(sender, receiver) for sender, receiver, _, _ in rows]
        return {
            "sender": [str(row[0]) for row in rows],
            "receiver": [str(row[1]) for row in rows],
            "composition": [row[2] for row in rows],
            "z": [row[3] for row in rows],
            "baseline": [self.baseline for _ in rows],
            "rank": [other.rank for other in others],
            "of": [other.n for other in others],
        }

    def __repr__(self) -> str:
        first = (
            f"{i} → {j} {value:.3f} (z {z:.0f}, {self.beside(i, j)})"
            for i, j, value, z in self.strongest(3)
        )
        name = self.side.upper()
        return f"{name} composition, random rotations give {self.baseline:.3f}: {', '.join(first)}"


@dataclass(frozen=True, eq=False)
class ByDistance:
    """A head's score of two tokens by how far apart they are, query − key.

    `scores` is the mean over independent tokens drawn from the vocabulary, at the places of the
    pass; `own` what is added where both are the same token; `weights` the mean attention that a row
    with these mean scores gives.
    """

    head: Site
    through: Through
    distances: Int64[np.ndarray, " distance"]
    scores: Float64[np.ndarray, " distance"]
    own: Float64[np.ndarray, " distance"]
    weights: Float64[np.ndarray, " distance"]
    n_tokens: int

    @property
    def peak(self) -> int:
        """The distance with the largest weight."""
        return int(self.distances[int(np.nanargmax(self.weights))])

    def weight(self, distance: int) -> float:
        """The mean weight at one distance; NaN where there is none."""
        return float(np.append(self.weights[self.distances == distance], np.nan)[0])

    def to_dict(self) -> dict[str, list[int] | list[float]]:
        """A row for each distance, as lists."""
        return {
            "distance": self.distances.tolist(),
            "score": self.scores.tolist(),
            "own": self.own.tolist(),
            "weight": self.weights.tolist(),
        }

    def __repr__(self) -> str:
        peak, previous = self.weight(self.peak), self.weight(1)
        return (
            f"{self.head} through {self.through}: most weight {counted(self.peak, 'token')} back"
            f" ({peak:.2f}), {previous:.2f} on the token before"
        )


@dataclass(frozen=True, eq=False)
class TopTokens:
    """The tokens whose logits a head raises and lowers most if it attends to one token.

    `z` says how many standard deviations of all tokens a logit lies above their mean: the size of
    what a head adds depends on the text, and the order does not.
    """

    head: Site
    token: str
    through: Through
    raised: tuple[tuple[str, float], ...]
    lowered: tuple[tuple[str, float], ...]

    def to_dict(self) -> dict[str, list[str] | list[float]]:
        """The tokens raised most, then those lowered most, as lists."""
        both = (*self.raised, *self.lowered)
        return {"token": [name for name, _ in both], "z": [z for _, z in both]}

    def __repr__(self) -> str:
        up, down = (
            ", ".join(f"{shortened(name, 20)!r} {z:+.1f}" for name, z in tokens)
            for tokens in (self.raised, self.lowered)
        )
        return f"{self.head} on {shortened(self.token, 20)!r} raises {up}; lowers {down}"


@dataclass(frozen=True)
class Candidate:
    """Two heads that could be an induction circuit; a text has to show whether they are.

    `looks_back` is the weight of the sender on the token before, `copies` the OV share of the
    receiver; both come from the weights alone. The composition has this `rank` among all `of` pairs
    of heads of the two layers.
    """

    sender: Site
    receiver: Site
    composition: float
    z: float
    looks_back: float
    copies: float
    rank: int
    of: int

    def to_dict(self) -> dict[str, str | float]:
        """Both heads by their names, and the numbers."""
        return {**asdict(self), "sender": str(self.sender), "receiver": str(self.receiver)}

    def __str__(self) -> str:
        return (
            f"{self.sender} (looks one back {self.looks_back:.2f}) → {self.receiver}.k"
            f" {self.composition:.3f} (z {self.z:.0f}, rank {self.rank} of {self.of}), copies"
            f" {self.copies:+.2f}"
        )
