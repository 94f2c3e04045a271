"""The scores of the tiny transformer's heads, between 0 and 1.

In: the model and token ids of sequences with two halves. Out: loss and accuracy on the second half,
and two kinds of attention: *induction*, the mean weight from a token of the second half to the
position after the same position of the first half (which holds the answer when the halves are
equal), and *previous*, the mean weight from a token to the one before it. On sequences without
repeats the same cells are the control; `chance` gives the scores of even attention.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Float32, Int64
from torch import Tensor
from torch.nn.functional import cross_entropy

from attnviz.attention import formula
from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.capture.record.recorder import record
from attnviz.teach.course.birth.alphabet import LETTERS
from attnviz.teach.course.birth.transformer import LAYERS, TinyTransformer
from attnviz.types import HeadId


@dataclass(frozen=True, eq=False)
class CircuitScores:
    """One measurement. `loss` (in nats) and `accuracy` are measured on the second half."""

    loss: float
    accuracy: float
    induction: Float32[np.ndarray, "layer head"]
    previous: Float32[np.ndarray, "layer head"]

    @property
    def best_induction(self) -> float:
        """The induction score of the best head of the last layer."""
        return float(self.induction[-1].max())

    @property
    def best_previous(self) -> float:
        """The previous-token score of the best head of the first layer."""
        return float(self.previous[0].max())

    @property
    def induction_head(self) -> HeadId:
        """The head of the last layer with the highest induction score."""
        return HeadId(len(self.induction) - 1, int(self.induction[-1].argmax()))

    @property
    def previous_head(self) -> HeadId:
        """The head of the first layer with the highest previous-token score."""
        return HeadId(0, int(self.previous[0].argmax()))


@dataclass(frozen=True)
class Chance:
    """The scores of a guess: even attention, every letter equally likely."""

    loss: float
    accuracy: float
    induction: float
    previous: float


def measure(model: TinyTransformer, tokens: Int64[Tensor, "batch token"]) -> CircuitScores:
    """The scores of every head, from attention that attnviz records and derives."""
    with torch.no_grad(), recorded(model) as calls:
        logits = model(tokens)
    maps = torch.stack([weights(call) for call in calls])  # [layer, batch, head, query, key]
    half = tokens.shape[1] // 2
    queries, keys, later = induction_cells(tokens.shape[1])
    predicted, target = logits[:, half:-1], tokens[:, half + 1 :]
    return CircuitScores(
        loss=float(cross_entropy(predicted.flatten(0, 1), target.flatten())),
        accuracy=float((predicted.argmax(-1) == target).float().mean()),
        induction=maps[..., queries, keys].mean(dim=(1, 3)).numpy(),
        previous=maps[..., later, later - 1].mean(dim=(1, 3)).numpy(),
    )


def chance(n_token: int) -> Chance:
    """The scores of even attention: each visible key of a query gets the same weight."""
    queries, _, later = induction_cells(n_token)
    return Chance(
        loss=float(np.log(len(LETTERS))),
        accuracy=1 / len(LETTERS),
        induction=float((1 / (queries + 1)).mean()),
        previous=float((1 / (later + 1)).mean()),
    )


def induction_cells(
    n_token: int,
) -> tuple[Int64[Tensor, "query"], Int64[Tensor, "query"], Int64[Tensor, "later"]]:
    """(queries of the second half, the key with each one's answer, all tokens but the first)."""
    half = n_token // 2
    queries = torch.arange(half, n_token)
    return queries, queries - half + 1, torch.arange(1, n_token)


def weights(call: AttentionCall) -> Float[Tensor, "batch head query key"]:
    """The attention weights of all texts of a batch at once."""
    inputs = call.inputs
    assert isinstance(inputs, AttentionInputs)
    scaled = formula.scaled(formula.scores(inputs.query, inputs.key), inputs.scaling)
    return formula.weights(formula.masked(scaled, inputs.may_attend(0)))


@contextmanager
def recorded(model: TinyTransformer) -> Iterator[list[AttentionCall]]:
    """Record one pass of the model; there is one call for each layer when the block ends."""
    with record(model) as calls:
        yield calls
    assert [call.layer for call in calls] == list(range(LAYERS))
