"""Cards of lesson 13 about a published example: its divisor, and the axis that it normalises.

The example is `preset("seeded")`: Q, K, V drawn in this order from seed 0, five rows of three. Its
source prints softmax(Q·Kᵀ/d) along the first axis, rounded to three digits, and the output of that.
"""

import math
from functools import partial

import numpy as np

from attnviz.pictures.board import Board, Panel
from attnviz.teach.calculator.presets import preset
from attnviz.teach.calculator.sheet import write
from attnviz.teach.course.arrays import Matrix, apart, softmax
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards.card import Card, ChoiceQuestion, Link, NumberQuestion, Program

TOLERANCE = 0.006
PRINTED_DIGITS = 3

# the note's program, line by line as it computes
PROGRAM = """import numpy as np

np.random.seed(0)
Q, K, V = (np.random.normal(size=(5, 3)) for _ in range(3))
S = Q @ K.T / 3
A = np.exp(S) / np.exp(S).sum(axis=0)
print(A.round(3))
print(A.round(3) @ V)
"""

weights_panel = partial(Panel, signed=False)


def products() -> Matrix:
    """Q·Kᵀ of the note's example."""
    matrices = preset("seeded").matrices
    return np.asarray(matrices["q"] @ matrices["k"].T)


def printed_weights() -> Matrix:
    """A of the note: scores divided by d, softmax along the first axis, three digits."""
    d = preset("seeded").d_head
    weights: Matrix = softmax(products().T / d).T
    return np.round(weights, PRINTED_DIGITS)


def right_weights() -> Matrix:
    """A of the paper: scores divided by √d, softmax along each row."""
    return softmax(products() / math.sqrt(preset("seeded").d_head))


def axis(inputs: CardInputs) -> Card:
    """The first erratum: rows that do not sum to one."""
    printed = printed_weights()
    row = (1, 3, 4)[inputs.seed % 3]
    total = float(printed[row].sum())
    bare = Board((weights_panel("printed", printed, decimals=3),))
    summed = Board((weights_panel("printed", printed, decimals=3, sums="both"),))
    wrong = apart(total, {"assumed": 1.0}, TOLERANCE)
    columns = printed.sum(axis=0)
    numbers = {"row": row, "total": total, "least": columns.min(), "most": columns.max()}
    pictures = (Program(PROGRAM), bare)
    question = NumberQuestion(total, TOLERANCE, wrong)
    link = Link("calculator", {"lab": write(preset("seeded"))})
    return Card("axis", numbers, pictures, question, (summed,), link)


def divisor(inputs: CardInputs) -> Card:
    """The second erratum: divided by d, not by its root."""
    scores = products()
    d, n = preset("seeded").d_head, len(scores)
    board = Board(
        (
            Panel("products", scores, decimals=3, scale="scores"),
            Panel("divided", scores / d, before="→", decimals=3, scale="scores"),
        )
    )
    wrong = {"root": math.sqrt(d), "inverse": 1 / d, "tokens": n}
    numbers = {
        "d": d,
        "root": math.sqrt(d),
        "tokens": n,
        "first": scores[0, 0],
        "first_divided": scores[0, 0] / d,
        "right": scores[0, 0] / math.sqrt(d),
    }
    return Card("divisor", numbers, (board,), NumberQuestion(d, 0.05, wrong))


def repair(inputs: CardInputs) -> Card:
    """The experiment: the printed weights beside the learner's, each against the right ones."""
    d = preset("seeded").d_head
    scores = products() / (d if inputs.text("by") == "whole" else math.sqrt(d))
    changed = softmax(scores) if inputs.text("sums") == "rows" else softmax(scores.T).T
    control = softmax(products().T / d).T
    board = Board(
        (
            weights_panel("control", control, decimals=3, sums="both"),
            weights_panel("changed", changed, decimals=3, sums="both"),
        )
    )
    right = right_weights()
    one_repair = softmax(products().T / math.sqrt(d)).T
    errors = {
        name: float(np.abs(weights - right).max())
        for name, weights in (("control", control), ("changed", changed), ("one", one_repair))
    }
    further = errors["one"] > errors["control"]
    question = ChoiceQuestion(("closer", "same", "further"), "further" if further else "closer")
    return Card("repair", errors, (), question, (board,))


def digits(inputs: CardInputs) -> Card:
    """Eight digits of an output whose weights were rounded to three."""
    values = preset("seeded").matrices["v"]
    rounded = printed_weights()[:1]
    unrounded = softmax(products().T / preset("seeded").d_head).T[:1]
    board = Board(
        (
            weights_panel("rounded", rounded, decimals=3),
            Panel("values", values, before="·", decimals=3, scale="value"),
            Panel("printed", rounded @ values, before="=", decimals=8, scale="value"),
        )
    )
    solution = Board((Panel("unrounded", unrounded @ values, decimals=6, scale="value"),))
    error = np.abs(unrounded @ values - rounded @ values).max()
    numbers = {
        "digits": PRINTED_DIGITS,
        "error": error,
        "printed": (rounded @ values)[0, 0],
        "unrounded": (unrounded @ values)[0, 0],
    }
    right = "all" if error < 1e-8 else ("few" if error < 10 ** (1 - PRINTED_DIGITS) else "none")
    question = ChoiceQuestion(("all", "few", "none"), right)
    return Card("digits", numbers, (board,), question, (solution,))
