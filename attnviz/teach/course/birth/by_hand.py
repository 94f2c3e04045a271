"""An induction circuit made by hand: two layers whose weights are chosen, not learned.

In: letters, each once, that come twice. Out: the weights of three heads, by `attention.formula`:

    layer 0, previous: q = position, k = position + 1; writes the letter before into the stream
    layer 0, other:    q = k = position; writes the token's own letter, which nothing reads
    layer 1:           q = letter, k = output of "previous": a letter finds its earlier successor

All vectors are one-hot; a score is `STRENGTH` where they meet and 0 elsewhere. The circuit of
Elhage et al. 2021, "A mathematical framework for transformer circuits", in its plainest form.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from attnviz import masks
from attnviz.attention import formula
from attnviz.teach.course.birth.scores import induction_cells

STRENGTH = 5.0
Removed = Literal["none", "previous", "other"]
REMOVED: tuple[Removed, ...] = get_args(Removed)


@dataclass(frozen=True, eq=False)
class Circuit:
    """The weights of the heads of both layers; the output of a removed head is 0."""

    previous: Float[Tensor, "query key"]
    other: Float[Tensor, "query key"]
    induction: Float[Tensor, "query key"]

    @property
    def score(self) -> float:
        """The mean weight from each letter of the second half to its successor in the first."""
        queries, keys, _ = induction_cells(len(self.induction))
        return float(self.induction[queries, keys].mean())


def circuit(tokens: Int64[Tensor, "token"], removed: Removed = "none") -> Circuit:
    """The circuit on these tokens, whole or with one head of layer 0 removed."""
    letters = torch.nn.functional.one_hot(tokens).double()
    positions = torch.eye(len(tokens), dtype=torch.float64)
    # the key of position p is p + 1, so that query p + 1 matches it; no query matches the last key
    previous = _weights(positions, torch.diag(torch.ones(len(tokens) - 1, dtype=torch.float64), 1))
    other = _weights(positions, positions)
    previous_output = formula.mixed(previous, letters) * float(removed != "previous")
    other_output = formula.mixed(other, letters) * float(removed != "other")
    # the stream of layer 1 has a subspace for each: the letter and both outputs
    stream = torch.cat([letters, previous_output, other_output], dim=1)
    n_letters = letters.shape[1]
    return Circuit(
        previous, other, _weights(stream[:, :n_letters], stream[:, n_letters : 2 * n_letters])
    )


def _weights(
    q: Float[Tensor, "token d_head"], k: Float[Tensor, "token d_head"]
) -> Float[Tensor, "token token"]:
    """The weights of causal attention whose scores are STRENGTH times Q·Kᵀ."""
    scores = formula.scaled(formula.scores(q, k), STRENGTH)
    return formula.weights(formula.masked(scores, masks.causal(len(q), len(k))))
