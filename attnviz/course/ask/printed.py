"""Cards of lesson 2 about a printed example: what it divides by, and which axis it normalises.

The example is `preset("seeded")`: Q, K, V drawn in this order from seed 0, five rows of three. Its
source prints softmax(Q·Kᵀ/d) along the first axis, rounded to three digits, and the output of that.
"""

import math
from functools import partial

import numpy as np

from attnviz.course.arrays import Matrix, apart, softmax
from attnviz.course.recipe import Ask
from attnviz.lab.presets import preset
from attnviz.lessons.cards.card import Board, Card, ChoiceQuestion, NumberQuestion, Panel

TOLERANCE = 0.006
PRINTED_DIGITS = 3

weights_panel = partial(Panel, signed=False)


def products() -> Matrix:
    """Q·Kᵀ of the note's example."""
    given = preset("seeded").matrices
    return np.asarray(given["q"] @ given["k"].T)


def printed_weights() -> Matrix:
    """A as the note has it: scores divided by d, softmax along the first axis, three digits."""
    d = preset("seeded").d_head
    weights: Matrix = softmax(products().T / d).T
    return np.round(weights, PRINTED_DIGITS)


def right_weights() -> Matrix:
    """A as the paper has it: scores divided by √d, softmax along each row."""
    return softmax(products() / math.sqrt(preset("seeded").d_head))


def axis(ask: Ask) -> Card:
    """The first erratum: rows that do not sum to one."""
    found = printed_weights()
    row = (1, 3, 4)[ask.seed % 3]
    total = float(found[row].sum())
    bare = Board((weights_panel("printed", found, decimals=3),))
    summed = Board((weights_panel("printed", found, decimals=3, sums="both"),))
    wrong = apart(total, {"assumed": 1.0}, TOLERANCE)
    columns = found.sum(axis=0)
    numbers = {"row": row, "total": total, "least": columns.min(), "most": columns.max()}
    return Card("axis", numbers, (bare,), NumberQuestion(total, TOLERANCE, wrong), (summed,))


def divisor(ask: Ask) -> Card:
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


def repair(ask: Ask) -> Card:
    """The experiment: as printed beside what the learner chose, each against the right result."""
    d = preset("seeded").d_head
    scores = products() / (d if ask.text("by") == "whole" else math.sqrt(d))
    changed = softmax(scores) if ask.text("sums") == "rows" else softmax(scores.T).T
    control = softmax(products().T / d).T
    board = Board(
        (
            weights_panel("control", control, decimals=3, sums="both"),
            weights_panel("changed", changed, decimals=3, sums="both"),
        )
    )
    right = right_weights()
    numbers = {
        "control": float(np.abs(control - right).max()),
        "changed": float(np.abs(changed - right).max()),
    }
    return Card("repair", numbers, (board,))


def digits(ask: Ask) -> Card:
    """Eight digits from weights that were rounded to three."""
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
    found = Board((Panel("unrounded", unrounded @ values, decimals=6, scale="value"),))
    error = np.abs(unrounded @ values - rounded @ values).max()
    numbers = {
        "digits": PRINTED_DIGITS,
        "error": error,
        "printed": (rounded @ values)[0, 0],
        "unrounded": (unrounded @ values)[0, 0],
    }
    right = "all" if error < 1e-8 else ("few" if error < 10 ** (1 - PRINTED_DIGITS) else "none")
    question = ChoiceQuestion(("all", "few", "none"), right)
    return Card("digits", numbers, (board,), question, (found,))
