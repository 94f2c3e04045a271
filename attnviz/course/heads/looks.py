"""What several heads look at: the cards of lesson 5 that are about points of view.

In: small drawn numbers, the module `mha-55`, and a sentence read by the sentence encoder. Out:
cards. Source of the patterns: Clark et al. 2019, "What does BERT look at?".
"""

import numpy as np

from attnviz.course.heads.mha import opened
from attnviz.course.recipe import Ask
from attnviz.lessons.cards.card import (
    Board,
    Card,
    ChoiceQuestion,
    Link,
    NumberQuestion,
    Panel,
    RealHead,
    Typed,
)
from attnviz.metrics import Pattern, score

TO_FOUR_DIGITS = 0.0006
MODEL = "minilm"
START = "The cat sat on the mat."
MOST_CHARS = 60
# in the order of the options: a head of each pattern
HEADS: dict[Pattern, tuple[int, int]] = {"next": (1, 8), "previous": (0, 2), "first": (1, 11)}


def views(ask: Ask) -> Card:
    """One average of two opposite values, and what two heads keep apart."""
    draws = np.random.default_rng(5 + ask.seed)
    up, down = (5.0, -3.0) if ask.seed == 0 else (float(draws.integers(4, 9)), -2.0)
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


def average(ask: Ask) -> Card:
    """What nn.MultiheadAttention reports unless asked: the mean over its heads."""
    of, row = opened(ask), 1 + ask.seed % 4
    first, second = of.torch_weights
    mean = (first + second) / 2
    one, other = float(first[row, 0]), float(second[row, 0])
    board = Board(
        (
            Panel("head0", first, signed=False, decimals=4),
            Panel("head1", second, signed=False, decimals=4),
            Panel("reported", mean, before="→", signed=False, decimals=4, hidden=True),
        )
    )
    from_mean = np.concatenate(
        [mean @ of.x @ of.weight("v", head) for head in range(of.n_heads)], axis=1
    )
    numbers = {
        "row": row,
        "one": one,
        "other": other,
        "mean": float(mean[row, 0]),
        "wrong_by": float(np.abs(from_mean @ of.w_o - of.torch_output).max()),
    }
    wrong = {"sum": one + other, "first": one, "second": other}
    return Card(
        "average", numbers, (board,), NumberQuestion(numbers["mean"], TO_FOUR_DIGITS, wrong)
    )


def text_control() -> Typed:
    """The box for a sentence of one's own."""
    return Typed("text", START, MOST_CHARS)


def looks(ask: Ask) -> Card:
    """Three heads of one model on one sentence: which looks at the previous token?"""
    text = ask.text("text").strip() or START
    cap = ask.capture(MODEL, text)
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
    place = table.patterns.index("previous")
    layer, head = HEADS["previous"]
    numbers: dict[str, float | int | str] = {
        "head": f"L{layer}.H{head}",
        "share": float(table.fractions[layer, head, place]),
        "even": float(table.baselines[place]),
        "mean": float(table.fractions[:, :, place].mean()),
        "heads": table.fractions[:, :, place].size,
        "layers": len(table.fractions),
    }
    numbers |= {f"{name}_head": f"L{at}.H{number}" for name, (at, number) in HEADS.items()}
    view: dict[str, str | int] = {"model": MODEL, "text": text, "layer": layer, "head": head}
    return Card(
        "looks",
        numbers,
        (),
        ChoiceQuestion(tuple(HEADS), "previous", pictures),
        (RealHead(MODEL, text, layer, head, "overview"),),
        Link("overview", view),
    )
