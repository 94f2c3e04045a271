"""The formulas on folded weights: eigenvalues of a circuit, and how far one head can read another.

In: factors of a circuit, never the circuit itself, which would be vocabulary × vocabulary or
d_model × d_model. Out: plain numbers, each with its control.

    eigenvalues of E·W (V × V)  = those of W·E (d_head × d_head)
    ‖A·B‖²                      = ⟨AᵀA, B·Bᵀ⟩, summed over blocks of rows
    over rotations Q            E‖A·Q·B‖² = ‖A‖²·‖B‖² ÷ d, and its variance, both in closed form

After Elhage et al. 2021, "A mathematical framework for transformer circuits".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Complex128, Float
from torch import Tensor

Side = Literal["q", "k", "v"]
ROWS = 64  # of d_model × d_model at once
SENDERS = 24  # of one product


def eigenvalues(
    left: Float[Tensor, "d_head vocab"], right: Float[Tensor, "vocab d_head"]
) -> Complex128[np.ndarray, " d_head"]:
    """The eigenvalues of right · left that can differ from 0, the largest first."""
    values = torch.linalg.eigvals((left @ right).double()).cpu().numpy()
    order: np.ndarray = np.argsort(-np.abs(values), kind="stable")
    largest: np.ndarray = values[order]
    return largest


def share(values: Complex128[np.ndarray, " d_head"]) -> float:
    """Σ λ ÷ Σ |λ|: 1 if all eigenvalues are positive, −1 if all are negative."""
    size = float(np.abs(values).sum())
    return float(values.real.sum()) / size if size else float("nan")


def own_first(
    left: Float[Tensor, "d_head vocab"],
    right: Float[Tensor, "vocab d_head"],
    tokens: Tensor,
) -> float:
    """The share of some tokens whose own entry is the largest of their row of right · left."""
    first = 0
    for some in torch.split(tokens, ROWS * 4):
        rows = right[some] @ left
        own = rows.gather(1, some[:, None])
        first += int((rows > own).sum(1).eq(0).sum())
    return first / len(tokens)


def own_positive(
    left: Float[Tensor, "d_head vocab"], right: Float[Tensor, "vocab d_head"], tokens: Tensor
) -> float:
    """The share of some tokens whose own entry of right · left is above 0."""
    return float(((right[tokens] * left[:, tokens].T).sum(1) > 0).double().mean())


def shuffled_shares(
    left: Float[Tensor, "d_head vocab"], right: Float[Tensor, "vocab d_head"], draws: int
) -> Float[np.ndarray, " draw"]:
    """The share where each token goes in as another one, drawn by seed: what chance gives."""
    shares = [share(eigenvalues(left, words)) for words in _shuffled(right, draws)]
    return np.array(shares, dtype=np.float64)


def shuffled_positive(
    left: Float[Tensor, "d_head vocab"],
    right: Float[Tensor, "vocab d_head"],
    tokens: Tensor,
    draws: int,
) -> Float[np.ndarray, " draw"]:
    """`own_positive` where each token goes in as another one, with the same draws."""
    shares = [own_positive(left, words, tokens) for words in _shuffled(right, draws)]
    return np.array(shares, dtype=np.float64)


def _shuffled(right: Float[Tensor, "vocab d_head"], draws: int) -> Iterator[Tensor]:
    """The rows in random orders, the same for every circuit."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(draws):
        yield right[torch.randperm(len(right), generator=generator).to(right.device)]


@dataclass(frozen=True, eq=False)
class Factors:
    """The factors a head writes, A [head, d_value, d_model], and reads, B [head, d_model, n].

    The far factor of each product is there as its `root`. A head whose weights are not known has
    zeros.
    """

    written: Float[Tensor, "head d_value d_model"]
    read: Mapping[Side, Float[Tensor, "head d_model d_read"]]


def root(factor: Float[Tensor, "head d_model n"]) -> Float[Tensor, "head n n"]:
    """R with R·Rᵀ = Fᵀ·F: all of a factor F that a norm ‖X·Fᵀ‖ = ‖X·R‖ knows."""
    gram = (factor.transpose(1, 2) @ factor).double()
    values, vectors = torch.linalg.eigh(gram)
    roots: Tensor = (vectors * values.clamp(min=0).sqrt()[:, None]).float()
    return roots


def squared_composition(
    factors: Factors, meet: Mapping[Side, Bool[np.ndarray, "sender receiver"]]
) -> dict[Side, Float[Tensor, "sender receiver"]]:
    """‖A·B‖² ÷ (‖A‖²·‖B‖²) of every sender and receiver that meet; others may be left at 0."""
    a, d_model = factors.written, factors.written.shape[2]
    spans = {side: list(_spans(table)) for side, table in meet.items()}
    sums = {side: torch.zeros(len(a), len(b), device=a.device) for side, b in factors.read.items()}
    for start in range(0, d_model, ROWS):
        stop = min(start + ROWS, d_model)
        # both products are symmetric: what lies right of the diagonal block counts twice
        gram = a[:, :, start:stop].transpose(1, 2) @ a[:, :, start:]
        gram[:, :, stop - start :] *= 2
        for side, b in factors.read.items():
            other = b[:, start:stop] @ b[:, start:].transpose(1, 2)
            for senders, receivers in spans[side]:
                some = gram[senders].flatten(1), other[receivers].flatten(1)
                sums[side][senders, receivers].addmm_(some[0], some[1].T)
    size = a.square().sum((1, 2))
    return {
        side: sums[side].clamp(min=0) / (size[:, None] * b.square().sum((1, 2))[None])
        for side, b in factors.read.items()
    }


def _spans(meet: Bool[np.ndarray, "sender receiver"]) -> Iterator[tuple[slice, slice]]:
    """Some senders each with the range of receivers that any of them meets."""
    for start in range(0, len(meet), SENDERS):
        met = np.flatnonzero(meet[start : start + SENDERS].any(0))
        if len(met):
            yield slice(start, start + SENDERS), slice(int(met[0]), int(met[-1]) + 1)


def spread_over_rotations(factors: Factors, side: Side) -> Float[Tensor, "sender receiver"]:
    """The standard deviation of the squared composition over all rotations between two heads.

    With S = AᵀA, T = B·Bᵀ and their parts S₀, T₀ without trace, tr(S·Q·T·Qᵀ) has the variance
    2‖S₀‖²‖T₀‖² ÷ ((d − 1)(d + 2)) over the orthogonal group (Schur's lemma).
    """
    d = factors.written.shape[2]
    left = _traceless(factors.written @ factors.written.transpose(1, 2), d)
    right = _traceless(factors.read[side].transpose(1, 2) @ factors.read[side], d)
    return (2 * left[:, None] * right[None] / max(1, (d - 1) * (d + 2))).sqrt()


def _traceless(gram: Float[Tensor, "head n n"], d: int) -> Float[Tensor, " head"]:
    """‖S₀‖² ÷ (tr S)² of a matrix S whose eigenvalues other than 0 are those of `gram`."""
    traces = gram.diagonal(dim1=1, dim2=2).sum(1)
    return (gram.square().sum((1, 2)) / traces.square() - 1 / d).clamp(min=0)


def mean_weights(
    scores: Float[Tensor, "query key"], visible: Bool[Tensor, "query key"]
) -> Float[Tensor, "query key"]:
    """The softmax of scores over the keys that a query may see."""
    return scores.masked_fill(~visible, -torch.inf).softmax(-1).nan_to_num()


def along_diagonals(
    table: Float[Tensor, "query key"], visible: Bool[Tensor, "query key"], distances: np.ndarray
) -> Float[np.ndarray, " distance"]:
    """The mean of the visible cells at each distance, query − key; NaN where there is none."""
    kept = table.masked_fill(~visible, torch.nan)
    means = [float(kept.diagonal(-int(distance)).nanmean()) for distance in distances]
    return np.array(means, dtype=np.float64)
