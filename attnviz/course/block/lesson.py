"""Lesson 1, one block, eight operations: Linear, QKᵀ, ÷√d_k, mask, softmax, ·V, concat, Linear.

Source: the block of Vaswani et al. 2017, section 3.2, as course texts walk through it. Their worked
example has four tokens under a causal mask; row 1 of the printed softmax divides the scores by
their sum instead of taking exponents, which the learner finds out by running it.
"""

import math
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from attnviz import masks
from attnviz.attention import formula
from attnviz.course.arrays import apart, as_numbers
from attnviz.course.recipe import CardInputs, Lesson, Recipe
from attnviz.lab.presets import preset
from attnviz.lessons.cards.card import (
    Board,
    Card,
    CellQuestion,
    ChoiceQuestion,
    Link,
    NumberQuestion,
    Panel,
    Slider,
)

TO_TWO_DIGITS = 0.006
# the erratum: the row in question, and the weights as they are printed
ROW = 1
PRINTED = np.array(
    [
        [1.0, 0.0, 0.0, 0.0],
        [0.67, 0.33, 0.0, 0.0],
        [0.02, 0.54, 0.44, 0.0],
        [0.05, 0.35, 0.52, 0.08],
    ]
)
SIZES = ((512, 8), (768, 12), (256, 4))
HEAD: Mapping[str, str | int] = {"model": "minilm", "layer": 5, "head": 11}


def _scores(seed: int) -> Tensor:
    """The scores of four tokens: those of the texts for seed 0, else random ones."""
    if seed == 0:
        return torch.from_numpy(preset("block").matrices["q"])
    draws = np.random.default_rng(seed)
    scores = np.round(draws.uniform(0.3, 3.0, size=(4, 4)), 1)
    return torch.from_numpy(scores)


def _masked(seed: int) -> Tensor:
    return formula.masked(_scores(seed), masks.causal(4, 4))


def _blocked() -> np.ndarray:
    return ~masks.causal(4, 4).numpy()


def _order(inputs: CardInputs) -> Card:
    """Q from X and W_Q, on the five rows of nn.MultiheadAttention's example."""
    matrices = preset("multihead").matrices
    x, w_q = matrices["x"], matrices["w_q"]
    panels = (Panel("x", x), Panel("w_q", w_q, before="·"), Panel("q", x @ w_q, before="="))
    return Card(
        "order",
        {"n": len(x), "d_model": x.shape[1], "d_k": w_q.shape[1]},
        (Board(panels),),
        ChoiceQuestion(("softmax", "scale", "mix"), "softmax"),
    )


def _sizes(inputs: CardInputs) -> Card:
    d_model, n_heads = SIZES[inputs.seed % len(SIZES)]
    question = NumberQuestion(d_model // n_heads, 0.5, {"whole": d_model, "heads": n_heads})
    numbers = {"d_model": d_model, "heads": n_heads, "d_k": d_model // n_heads}
    return Card("sizes", numbers, question=question)


def _products(inputs: CardInputs) -> Card:
    """Q·Kᵀ of small integers; the question asks for the cell of q_2·k_0."""
    draws = np.random.default_rng(4 + inputs.seed)
    q, k = (draws.integers(-2, 4, size=(3, 2)).astype(np.float64) for _ in range(2))
    scores = as_numbers(formula.scores(torch.from_numpy(q), torch.from_numpy(k)))
    panels = (
        Panel("q", q, decimals=0),
        Panel("k_t", k.T.copy(), before="·", decimals=0),
        Panel("scores", scores, before="=", decimals=0),
    )
    question = CellQuestion(
        "scores",
        frozenset({(2, 0)}),
        {
            "transposed": frozenset({(0, 2)}),
            "column": frozenset({(0, 0), (1, 0)}),
            "row": frozenset({(2, 1), (2, 2)}),
        },
    )
    return Card("products", {"score": scores[2, 0]}, (Board(panels),), question)


def _mask(inputs: CardInputs) -> Card:
    blocked = _blocked()
    n_open = int((~blocked).sum())
    board = Board(
        (
            Panel("scores", as_numbers(_scores(inputs.seed)), decimals=1, scale="scores"),
            Panel(
                "masked",
                as_numbers(_masked(inputs.seed)),
                before="→",
                decimals=1,
                blocked=blocked,
                scale="scores",
            ),
        )
    )
    question = NumberQuestion(n_open, 0.1, {"blocked": int(blocked.sum()), "all": blocked.size})
    return Card("mask", {"open": n_open, "all": blocked.size, "n": 4}, (board,), question)


def _softmax(inputs: CardInputs) -> Card:
    masked = _masked(inputs.seed)
    weights = as_numbers(formula.weights(masked))
    first, second = (float(score) for score in masked[ROW, :2])
    board = Board(
        (
            Panel("masked", as_numbers(masked), decimals=1, blocked=_blocked()),
            Panel("weights", weights, before="→", signed=False, sums="rows", hidden=True),
        )
    )
    # the mistake divides absolute values: −0.7 counts as 0.7
    divided = abs(first) / (abs(first) + abs(second))
    numbers = {
        "row": ROW,
        "first": first,
        "second": second,
        "exp_first": math.exp(first),
        "exp_second": math.exp(second),
        "weight": weights[ROW, 0],
        "rest": weights[ROW, 1],
        "divided": divided,
    }
    wrong = {"divided": divided, "swapped": weights[ROW, 1]}
    question = NumberQuestion(
        weights[ROW, 0], TO_TWO_DIGITS, apart(weights[ROW, 0], wrong, TO_TWO_DIGITS)
    )
    return Card("softmax", numbers, (board,), question)


def _erratum(inputs: CardInputs) -> Card:
    weights = as_numbers(formula.weights(_masked(0)))
    board = Board(
        (
            Panel("masked", as_numbers(_masked(0)), decimals=1, blocked=_blocked()),
            Panel("printed", PRINTED, before="→", signed=False, sums="rows"),
        )
    )
    solution = Board((Panel("computed", weights, signed=False, sums="rows"),))
    right = frozenset((ROW, column) for column in range(4))
    first = frozenset((0, column) for column in range(4))
    question = CellQuestion("printed", right, {"one_key": first}, also=("masked",))
    numbers = {
        "row": ROW,
        "printed": PRINTED[ROW, 0],
        "computed": weights[ROW, 0],
        "computed_rest": weights[ROW, 1],
    }
    return Card("erratum", numbers, (board,), question, (solution,))


def _sharper(inputs: CardInputs) -> Card:
    """The experiment: the weights of all scores times a factor, beside those without it."""
    factor, masked = inputs.number("factor"), _masked(0)
    before = as_numbers(formula.weights(masked))
    after = as_numbers(formula.weights(formula.masked(factor * _scores(0), masks.causal(4, 4))))
    board = Board(
        (
            Panel("control", before, signed=False, sums="rows"),
            Panel("changed", after, signed=False, sums="rows"),
        )
    )
    numbers = {"factor": factor, "before": before[3].max(), "after": after[3].max(), "row": 3}
    return Card("sharper", numbers, (board,))


def _mix(inputs: CardInputs) -> Card:
    weights = as_numbers(formula.weights(_masked(inputs.seed)))
    values = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 2.0]])
    mixed = as_numbers(formula.mixed(torch.from_numpy(weights), torch.from_numpy(values)))
    board = Board(
        (
            Panel("weights", weights, signed=False),
            Panel("values", values, before="·", decimals=0, scale="value"),
            Panel("mixed", mixed, before="=", hidden=True, scale="value"),
        )
    )
    answer, largest = float(mixed[2, 1]), float(values[weights[2].argmax(), 1])
    mean = float(values[:3, 1].mean())
    wrong = apart(answer, {"largest": largest, "mean": mean}, TO_TWO_DIGITS)
    numbers = {"row": 2, "mixed": answer}
    link = Link("steps", HEAD)
    question = NumberQuestion(answer, TO_TWO_DIGITS, wrong)
    return Card("mix", numbers, (board,), question, link=link)


LESSON = Lesson(
    "block",
    minutes=7,
    recipes=(
        Recipe("order", _order),
        Recipe("sizes", _sizes),
        Recipe("products", _products),
        Recipe("mask", _mask),
        Recipe("softmax", _softmax),
        Recipe("erratum", _erratum),
        Recipe(
            "sharper", _sharper, (Slider("factor", (0.0, 0.5, 1.0, 2.0, 5.0), 2.0),), "experiment"
        ),
        Recipe("mix", _mix),
    ),
)
