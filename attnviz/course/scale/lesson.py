"""Lesson 3, why divide by √d_k: what happens to a softmax whose scores grow with the dimension.

    Var(q·k) = d_k for independent entries of mean 0 and variance 1    (Vaswani et al. 2017, note 4)

Everything here is measured on drawn queries and keys (`draws`), then on a trained head, whose
scores are not bound to that assumption (`real`).
"""

import math
from functools import partial

import numpy as np

from attnviz.course.arrays import apart, softmax
from attnviz.course.recipe import CardInputs, Lesson, Recipe
from attnviz.course.scale.draws import (
    MANY,
    N_KEYS,
    WIDTHS,
    gradient_size,
    measured_variance,
    rows_at,
    score_row,
    spread,
)
from attnviz.course.scale.real import controls, real
from attnviz.course.scale.temperature import TEMPERATURES, loses, shift, temperature
from attnviz.lessons.cards.card import (
    Board,
    Card,
    Chart,
    ChoiceQuestion,
    NumberQuestion,
    Panel,
    Series,
    Slider,
)

WIDE = (64, 256, 16)
WIDTH_AXIS = np.array(WIDTHS, dtype=np.float64)
WEIGHTS = (0.9, 0.8, 0.7)
SLOPE_TOLERANCE = 0.004
# the divisor's row of scores, for pictures of what each divisor makes of it
PICTURED = 64

weights_panel = partial(Panel, signed=False)


def _grows(inputs: CardInputs) -> Card:
    """The variance of q·k, asked; then measured at every width."""
    d_k = WIDE[inputs.seed % len(WIDE)]
    measured = measured_variance(inputs.seed)
    widths = WIDTH_AXIS
    lines = (
        Series("measured", widths, np.array([measured[width] for width in WIDTHS])),
        Series("expected", widths, widths),
    )
    wrong = {"one": 1.0, "root": math.sqrt(d_k), "squared": float(d_k**2)}
    numbers = {"d_k": d_k, "measured": measured[d_k], "draws": MANY, "root": math.sqrt(d_k)}
    chart = Chart("width", "variance", lines, log_x=True, marked_x=float(d_k))
    return Card("grows", numbers, question=NumberQuestion(d_k, 0.5, wrong), reveal=(chart,))


def _divisor(inputs: CardInputs) -> Card:
    """Scores of two widths as histograms; which divisor makes them alike?"""
    narrow, wide = 4, WIDE[inputs.seed % len(WIDE)]
    shown = Chart(
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
    return Card("divisor", numbers, (shown,), question, (divided,))


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
                    np.array([of[width][at] for width in WIDTHS]),
                )
                for at, series in enumerate(("divided", "undivided"))
            ),
            log_x=True,
            marked_x=float(d_k),
        )
        for name, of in (("entropy", entropy), ("gradient", gradient))
    )
    numbers = {
        "d_k": d_k,
        "keys": N_KEYS,
        "rows": MANY,
        "uniform": math.log2(N_KEYS),
        "entropy_divided": entropy[d_k][0],
        "entropy_undivided": entropy[d_k][1],
        "gradient_divided": gradient[d_k][0],
        "gradient_undivided": gradient[d_k][1],
        "gradient_uniform": float(gradient_size(np.full((1, N_KEYS), 1 / N_KEYS))[0]),
    }
    return Card("lab", numbers, (board, *charts))


def _slope(inputs: CardInputs) -> Card:
    """Two keys: how much does a weight move for a small change of its score?"""
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
    """Which picture was divided by √d_k? Three queries, six keys, three divisors."""
    draws = np.random.default_rng(11 + inputs.seed)
    q, k = (draws.normal(size=(n, PICTURED)) for n in (3, 6))
    scores = q @ k.T
    divisors = {"flat": float(PICTURED), "root": math.sqrt(PICTURED), "sharp": 1.0}
    weights = {name: softmax(scores / by) for name, by in divisors.items()}
    pictures = {
        name: Board((weights_panel("weights", of, sums="rows"),)) for name, of in weights.items()
    }
    order = (("sharp", "root", "flat"), ("root", "flat", "sharp"), ("flat", "sharp", "root"))
    question = ChoiceQuestion(order[inputs.seed % 3], "root", pictures)
    numbers = {
        "d_k": PICTURED,
        "keys": k.shape[0],
        "uniform": 1 / k.shape[0],
        "flattest": weights["flat"].max(),
        "sharpest": weights["sharp"].max(axis=1).mean(),
        "root": math.sqrt(PICTURED),
    }
    return Card("pictures", numbers, question=question)


LESSON = Lesson(
    "scale",
    minutes=8,
    recipes=(
        Recipe("grows", _grows),
        Recipe("divisor", _divisor),
        Recipe("lab", _lab, (Slider("d_k", tuple(map(float, WIDTHS)), 64.0),), "experiment"),
        Recipe("slope", _slope),
        Recipe("pictures", _pictures),
        Recipe("loses", loses),
        Recipe(
            "temperature", temperature, (Slider("temperature", TEMPERATURES, 4.0),), "experiment"
        ),
        Recipe("shift", shift),
        Recipe("real", real, controls(), "experiment"),
    ),
)
