"""Lesson 3, the division by √d_k: the softmax of scores that grow with the dimension.

    Var(q·k) = d_k for independent entries of mean 0 and variance 1    (Vaswani et al. 2017, note 4)

Everything is measured on random queries and keys (`draws`), then on a trained head, which need not
meet that assumption (`real`).
"""

import math
from functools import partial

import numpy as np

from attnviz.pictures.board import Board, Panel
from attnviz.teach.course.arrays import apart, softmax
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.course.scale.draws import (
    N_KEYS,
    N_ROWS,
    WIDTHS,
    gradient_size,
    mean_slope,
    measured_variance,
    rows_at,
    score_row,
    spread,
)
from attnviz.teach.course.scale.real import controls, real
from attnviz.teach.course.scale.temperature import TEMPERATURES, loses, shift, temperature
from attnviz.teach.lessons.cards.card import (
    Card,
    Chart,
    ChoiceQuestion,
    NumberQuestion,
    Series,
    Slider,
)

WIDE = (64, 256, 16)
WIDTH_AXIS = np.array(WIDTHS, dtype=np.float64)
WEIGHTS = (0.9, 0.8, 0.7)
SLOPE_TOLERANCE = 0.004
PICTURE_WIDTH = 64  # d_k of the scores in the pictures

weights_panel = partial(Panel, signed=False)


def _grows(inputs: CardInputs) -> Card:
    """The question asks for the variance of q·k; the chart measures it at every width."""
    d_k = WIDE[inputs.seed % len(WIDE)]
    measured = measured_variance(inputs.seed)
    widths = WIDTH_AXIS
    lines = (
        Series("measured", widths, np.array([measured[width] for width in WIDTHS])),
        Series("expected", widths, widths),
    )
    wrong = {"one": 1.0, "root": math.sqrt(d_k), "squared": float(d_k**2)}
    numbers = {"d_k": d_k, "measured": measured[d_k], "draws": N_ROWS, "root": math.sqrt(d_k)}
    chart = Chart("width", "variance", lines, log_x=True, marked_x=float(d_k))
    return Card("grows", numbers, question=NumberQuestion(d_k, 0.5, wrong), reveal=(chart,))


def _divisor(inputs: CardInputs) -> Card:
    """Scores of two widths as histograms; the question asks for the divisor that equals them."""
    narrow, wide = 4, WIDE[inputs.seed % len(WIDE)]
    undivided = Chart(
        "score",
        "share",
        (spread("narrow", narrow, 1.0, inputs.seed), spread("wide", wide, 1.0, inputs.seed)),
    )
    divided = Chart(
        "score",
        "share",
        (
            spread("narrow", narrow, math.sqrt(narrow), inputs.seed),
            spread("wide", wide, math.sqrt(wide), inputs.seed),
            spread("flat", wide, float(wide), inputs.seed),
        ),
    )
    deviation = math.sqrt(measured_variance(inputs.seed)[wide])
    numbers = {
        "narrow": narrow,
        "wide": wide,
        "deviation": deviation,
        "by_root": deviation / math.sqrt(wide),
        "by_whole": deviation / wide,
        "root": math.sqrt(wide),
    }
    question = ChoiceQuestion(("whole", "root", "square"), "root")
    return Card("divisor", numbers, (undivided,), question, (divided,))


def _lab(inputs: CardInputs) -> Card:
    """The experiment: one row of weights, and the mean of many rows, with and without √d_k."""
    d_k = int(inputs.number("d_k"))
    row = score_row(d_k, inputs.seed)
    board = Board(
        (
            weights_panel("control", softmax(row / math.sqrt(d_k)), sums="rows"),
            weights_panel("changed", softmax(row), sums="rows"),
        )
    )
    entropy, gradient = rows_at(inputs.seed)
    charts = tuple(
        Chart(
            "width",
            name,
            tuple(
                Series(
                    series,
                    WIDTH_AXIS,
                    np.array([means[width][index] for width in WIDTHS]),
                )
                for index, series in enumerate(("divided", "undivided"))
            ),
            log_x=True,
            marked_x=float(d_k),
        )
        for name, means in (("entropy", entropy), ("gradient", gradient))
    )
    numbers = {
        "d_k": d_k,
        "keys": N_KEYS,
        "rows": N_ROWS,
        "uniform": math.log2(N_KEYS),
        "entropy_divided": entropy[d_k][0],
        "entropy_undivided": entropy[d_k][1],
        "gradient_divided": gradient[d_k][0],
        "gradient_undivided": gradient[d_k][1],
        "gradient_mean": mean_slope(d_k, inputs.seed),
        "gradient_uniform": float(gradient_size(np.full((1, N_KEYS), 1 / N_KEYS))[0]),
    }
    question = ChoiceQuestion(("even", "one", "same"), "one")
    return Card("lab", numbers, (), question, (board, *charts))


def _slope(inputs: CardInputs) -> Card:
    """Two keys; the question asks for the change of a weight per change of its score."""
    weight = WEIGHTS[inputs.seed % len(WEIGHTS)]
    gap = math.log(weight / (1 - weight))
    gaps = np.linspace(-8, 8, 81)
    first = softmax(np.stack([gaps, np.zeros_like(gaps)], axis=1))[:, 0]
    lines = (Series("weight", gaps, first), Series("slope", gaps, first * (1 - first)))
    answer = weight * (1 - weight)
    step = 0.01
    moved = softmax(np.array([[gap + step, 0.0]]))[0, 0] - weight
    wrong = {"weight": weight, "rest": 1 - weight, "half": 0.25}
    numbers = {
        "weight": weight,
        "rest": 1 - weight,
        "slope": answer,
        "gap": gap,
        "step": step,
        "moved": moved,
        "steepest": 0.25,
        "far": 0.999,
        "far_slope": 0.999 * (1 - 0.999),
    }
    question = NumberQuestion(answer, SLOPE_TOLERANCE, apart(answer, wrong, SLOPE_TOLERANCE))
    chart = Chart("gap", "size", lines, marked_x=gap)
    return Card("slope", numbers, question=question, reveal=(chart,))


def _pictures(inputs: CardInputs) -> Card:
    """Three queries, six keys, three divisors; one picture was divided by √d_k."""
    draws = np.random.default_rng(11 + inputs.seed)
    q, k = (draws.normal(size=(n, PICTURE_WIDTH)) for n in (3, 6))
    scores = q @ k.T
    divisors = {"flat": float(PICTURE_WIDTH), "root": math.sqrt(PICTURE_WIDTH), "sharp": 1.0}
    weights = {name: softmax(scores / divisor) for name, divisor in divisors.items()}
    pictures = {
        name: Board((weights_panel("weights", rows, sums="rows"),))
        for name, rows in weights.items()
    }
    question = ChoiceQuestion(("sharp", "root", "flat"), "root", pictures)
    numbers = {
        "d_k": PICTURE_WIDTH,
        "keys": k.shape[0],
        "uniform": 1 / k.shape[0],
        "flattest": weights["flat"].max(),
        "sharpest": weights["sharp"].max(axis=1).mean(),
        "root": math.sqrt(PICTURE_WIDTH),
    }
    return Card("pictures", numbers, question=question)


LESSON = Lesson(
    "scale",
    needs=("block",),
    recipes=(
        Recipe("grows", _grows),
        Recipe("divisor", _divisor),
        Recipe("slope", _slope),
        Recipe("lab", _lab, (Slider("d_k", tuple(map(float, WIDTHS)), 64.0),), "experiment"),
        Recipe("pictures", _pictures),
        Recipe("loses", loses),
        Recipe(
            "temperature", temperature, (Slider("temperature", TEMPERATURES, 4.0),), "experiment"
        ),
        Recipe("shift", shift),
        Recipe("real", real, controls(), "experiment"),
    ),
)
