"""The last card of lesson 3: a trained head with another divisor of its scores.

In: a typed text and a divisor. Out: the card, with one row of a MiniLM head under the divisor
beside its own, and the variance of its scores, to compare with d_k.
"""

import math

from torch import Tensor

from attnviz.attention import formula
from attnviz.pictures.board import Board, Panel
from attnviz.teach.course.arrays import Matrix, as_numbers, entropy_bits
from attnviz.teach.course.ask.real import MODEL, strongest, text_control, typed
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards.card import Card, ChoiceQuestion, Control, Link, Pick

LAYER, HEAD = 3, 1  # as in `ask.real`: its row of "it" differs from its other rows
INITIAL_STD = 0.02  # of the entries of W_Q and W_K before training, as BERT is initialised
# few tokens, so that a row of weights is shown with its numbers; its strongest row is that of "it"
SHORT = "The animal stopped because it was tired."


def controls() -> tuple[Control, ...]:
    """The controls: a sentence and a divisor."""
    return text_control(SHORT), Pick("by", ("none", "root", "whole"), "none")


def real(inputs: CardInputs) -> Card:
    """One row of the head, as trained and with the chosen divisor."""
    text = typed(inputs)
    captured = inputs.capture(MODEL, text)
    query, _ = strongest(captured, LAYER, HEAD)
    call = captured.call(LAYER)
    d_k = call.inputs.d_head or 1
    divisor = {"none": 1.0, "root": math.sqrt(d_k), "whole": float(d_k)}[inputs.text("by")]
    scores = [call.stages(head)["scores"] for head in range(call.n_heads)]
    own, changed = (_weights(scores[HEAD], by) for by in (math.sqrt(d_k), divisor))
    labels = captured.tokens.labels
    board = Board(
        tuple(
            Panel(
                name,
                weights[query : query + 1],
                rows=(labels[query],),
                columns=labels,
                signed=False,
                sums="rows",
            )
            for name, weights in (("control", own), ("changed", changed))
        )
    )
    variances = [float(head.var(dim=1).mean()) for head in scores]
    assert captured.hidden is not None, "the sentence encoder gives its hidden states"
    width = int(captured.hidden.shape[-1])
    entry = width * INITIAL_STD**2  # the variance of an entry of q or k for inputs of variance 1
    numbers: dict[str, float | int | str] = {
        "head": f"L{LAYER}.H{HEAD}",
        "layer": LAYER,
        "d_k": d_k,
        "initial_std": INITIAL_STD,
        "d_model": width,
        "entry": entry,
        "initial": d_k * entry**2,
        "variance": variances[HEAD],
        "least": min(variances),
        "most": max(variances),
        "query": labels[query],
        "uniform": math.log2(len(labels)),
        "control": float(entropy_bits(own).mean()),
        "changed": float(entropy_bits(changed).mean()),
    }
    view: dict[str, str | int | float] = {
        "model": MODEL,
        "text": text,
        "layer": LAYER,
        "head": HEAD,
        "query": query,
    }
    question = ChoiceQuestion(("width", "initial", "own"), "own")
    return Card("real", numbers, (), question, (board,), Link("steps", view))


def _weights(scores: Tensor, divisor: float) -> Matrix:
    return as_numbers(formula.weights(formula.scaled(scores, 1 / divisor)))
