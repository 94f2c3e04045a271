"""An induction circuit made by hand: two layers whose weights are chosen, not learned.

In: letters, each once, that come twice. Out: the weights of three heads, by `attention.formula`:

    layer 0, previous: q = place, k = place + 1, brings the letter before
    layer 0, other:    q = k = place, brings its own letter; nobody reads it
    layer 1:           q = letter, k = what "previous" brought: a letter finds what followed it

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
from attnviz.course.birth.scores import induction_cells

STRENGTH = 5.0
Removed = Literal["none", "previous", "other"]
REMOVED: tuple[Removed, ...] = get_args(Removed)


@dataclass(frozen=True, eq=False)
class Circuit:
    """The weights of the heads of both layers, [query, key]; a removed head brings nothing."""

    previous: Float[Tensor, "query key"]
    other: Float[Tensor, "query key"]
    induction: Float[Tensor, "query key"]

    @property
    def score(self) -> float:
        """The mean weight from each letter of the second half to what followed it in the first."""
        asking, answering, _ = induction_cells(len(self.induction))
        return float(self.induction[asking, answering].mean())


def circuit(tokens: Int64[Tensor, "token"], removed: Removed = "none") -> Circuit:
    """The circuit on these tokens, whole or with one head of layer 0 taken away."""
    letters = torch.nn.functional.one_hot(tokens).double()
    places = torch.eye(len(tokens), dtype=torch.float64)
    # the key of place p is p + 1, so that the query of p + 1 meets it; the last one meets nobody
    previous = _weights(places, torch.diag(torch.ones(len(tokens) - 1, dtype=torch.float64), 1))
    other = _weights(places, places)
    brought = formula.mixed(previous, letters) * float(removed != "previous")
    unread = formula.mixed(other, letters) * float(removed != "other")
    # the stream of layer 1 has a place for each: the letter, what was brought, what nobody reads
    stream = torch.cat([letters, brought, unread], dim=1)
    n_letters = letters.shape[1]
    return Circuit(
        previous, other, _weights(stream[:, :n_letters], stream[:, n_letters : 2 * n_letters])
    )


def _weights(
    q: Float[Tensor, "token d_head"], k: Float[Tensor, "token d_head"]
) -> Float[Tensor, "token token"]:
    """Causal attention; scores are STRENGTH times the product."""
    scores = formula.scaled(formula.scores(q, k), STRENGTH)
    return formula.weights(formula.masked(scores, masks.causal(len(q), len(k))))
