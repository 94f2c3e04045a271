"""Cards of lesson 5 about the patterns of several heads.

In: small random numbers, the module `mha-55`, and a sentence for the sentence encoder. Out: cards.
Source of the patterns: Clark et al. 2019, "What does BERT look at?".
"""

import numpy as np

from attnviz.metrics import PatternName, score
from attnviz.pictures.board import Board, Panel
from attnviz.teach.course.heads.mha import module_parts
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards.card import (
    Card,
    ChoiceQuestion,
    Link,
    NumberQuestion,
    RealHead,
    Typed,
)
from attnviz.types import HeadId

TO_FOUR_DIGITS = 0.0006
MODEL = "minilm"
START = "The cat sat on the mat."
MAX_CHARS = 60
# in the order of the options: a head of each pattern
HEADS: dict[PatternName, tuple[int, int]] = {"next": (1, 8), "previous": (0, 2), "first": (1, 11)}


def views(inputs: CardInputs) -> Card:
    """The average of two opposite values in one head, and the two values in two heads."""
    draws = np.random.default_rng(5 + inputs.seed)
    up, down = (5.0, -3.0) if inputs.seed == 0 else (float(draws.integers(4, 9)), -2.0)
    values = np.array([[up], [0.0], [down]])
    weights = np.array([[0.5, 0.0, 0.5]])
    both = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    one_head = Board(
        (
            Panel("weights", weights, decimals=1, signed=False),
            Panel("values", values, before="·", decimals=0, scale="value"),
            Panel("mixed", weights @ values, before="=", decimals=1, hidden=True, scale="value"),
        )
    )
    two_heads = Board(
        (
            Panel("both", both, decimals=1, signed=False),
            Panel("values", values, before="·", decimals=0, scale="value"),
            Panel("apart", (both @ values).T, before="→", decimals=1, scale="value"),
        )
    )
    mixed = float((weights @ values)[0, 0])
    question = NumberQuestion(mixed, 0.05, {"sum": up + down, "one": up})
    numbers = {"up": up, "down": down, "mixed": mixed}
    return Card("views", numbers, (one_head,), question, (two_heads,))


def average(inputs: CardInputs) -> Card:
    """The weights that nn.MultiheadAttention reports by default: the mean over its heads."""
    parts, row = module_parts(inputs), 1 + inputs.seed % 4
    first, second = parts.torch_weights
    mean = (first + second) / 2
    weight0, weight1 = float(first[row, 0]), float(second[row, 0])
    board = Board(
        (
            Panel("head0", first, signed=False, decimals=4),
            Panel("head1", second, signed=False, decimals=4),
            Panel("reported", mean, before="→", signed=False, decimals=4, hidden=True),
        )
    )
    from_mean = np.concatenate(
        [mean @ parts.x @ parts.weight("v", head) for head in range(parts.n_heads)], axis=1
    )
    numbers = {
        "row": row,
        "one": weight0,
        "other": weight1,
        "mean": float(mean[row, 0]),
        "wrong_by": float(np.abs(from_mean @ parts.w_o - parts.torch_output).max()),
    }
    wrong = {"sum": weight0 + weight1, "first": weight0, "second": weight1}
    return Card(
        "average", numbers, (board,), NumberQuestion(numbers["mean"], TO_FOUR_DIGITS, wrong)
    )


def text_control() -> Typed:
    """The box for a sentence of the learner."""
    return Typed("text", START, MAX_CHARS)


def patterns(inputs: CardInputs) -> Card:
    """Three heads of one model on one sentence; one of them attends to the previous token."""
    text = inputs.text("text").strip() or START
    cap = inputs.capture(MODEL, text)
    labels, table = cap.tokens.labels, score(cap)
    pictures: dict[str, Board] = {
        name: Board(
            (
                Panel(
                    name,
                    cap.weights(layer, head).astype(np.float64),
                    rows=labels,
                    columns=labels,
                    signed=False,
                    decimals=1,
                ),
            )
        )
        for name, (layer, head) in HEADS.items()
    }
    previous = table["previous"]
    layer, head = HEADS["previous"]
    numbers: dict[str, float | int | str] = {
        "head": f"L{layer}.H{head}",
        "share": float(previous[layer, head]),
        "even": float(table.baselines[layer, table.patterns.index("previous")]),
        "mean": float(previous.mean()),
        "heads": previous.size,
        "layers": len(previous),
    }
    numbers |= {f"{name}_head": str(HeadId(*place)) for name, place in HEADS.items()}
    view: dict[str, str | int] = {"model": MODEL, "text": text, "layer": layer, "head": head}
    return Card(
        "looks",
        numbers,
        (),
        ChoiceQuestion(tuple(HEADS), "previous", pictures),
        (RealHead(MODEL, text, layer, head, "overview"),),
        Link("overview", view),
    )
