"""The division by √d_k: the softmax of scores that grow with the dimension.

    Var(q·k) = d_k for independent entries of mean 0 and variance 1    (Vaswani et al. 2017, note 4)

Most cards measure variances, histograms, entropies and gradients on `N_ROWS` random queries and
keys of a width and a seed; they are cached, as a slider asks for them again. The cards on
temperature have softmax(scores / T), of which √d_k is one case. The last one, `_real`, gives a
trained MiniLM head another divisor, and compares the variance of its scores with d_k: it need not
meet the paper's assumption.
"""

import math
from collections.abc import Mapping
from functools import cache, partial

import numpy as np
from jaxtyping import Float64

from attnviz.attention import formula
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.course.arrays import Matrix, apart, as_numbers, entropy_bits, softmax
from attnviz.teach.course.ask import MODEL, strongest, text_control, typed
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    Chart,
    ChoiceQuestion,
    Control,
    Link,
    NumberQuestion,
    Numbers,
    Pick,
    Series,
    Slider,
)
from attnviz.teach.lessons.cards.versions import places

WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512)
N_KEYS = 8
N_ROWS = 500
BINS = np.linspace(-40, 40, 81)
TEMPERATURES = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0, 64.0)
SCORES = ((3.0, 1.0, 2.0, 0.0, -1.0), (0.5, 2.5, 1.5, -0.5, 0.0), (1.0, -1.0, 0.0, 4.0, 2.0))
ADDED = 100.0
LAYER, HEAD = 3, 1  # as in `ask`: its row of "it" differs from its other rows
INITIAL_STD = 0.02  # of the entries of W_Q and W_K before training, as BERT is initialised
# few tokens, so that a row of weights is shown with its numbers; its strongest row is that of "it"
SHORT = "The animal stopped because it was tired."
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


def measured_variance(seed: int) -> Mapping[int, float]:
    """The variance of the scores at each width."""
    return {width: float(scores_at(width, seed).var()) for width in WIDTHS}


@cache
def scores_at(d_k: int, seed: int) -> Float64[np.ndarray, "row key"]:
    """q·k of `N_ROWS` queries with `N_KEYS` keys each; every entry has mean 0 and variance 1."""
    draws = np.random.default_rng((seed, d_k))
    q = draws.normal(size=(N_ROWS, 1, d_k))
    k = draws.normal(size=(N_ROWS, N_KEYS, d_k))
    return np.asarray((q * k).sum(axis=-1))


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


def spread(name: str, d_k: int, divisor: float, seed: int) -> Series:
    """The fraction of scores in each bin, as a line through the middles of the bins."""
    scores = scores_at(d_k, seed) / divisor
    bins = BINS if divisor == 1 else BINS / 10
    counts, edges = np.histogram(scores, bins=bins)
    return Series(name, (edges[:-1] + edges[1:]) / 2, counts / scores.size)


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


def _lab(inputs: CardInputs) -> Card:
    """The experiment: one row of weights, and the mean of many rows, with and without √d_k."""
    d_k = int(inputs.number("d_k"))
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
    board, narrow = (_one_row(width, inputs.seed) for width in (d_k, WIDTHS[0]))
    return Card("lab", numbers, (), question, (board, *charts), situation=(narrow,))


def _one_row(d_k: int, seed: int) -> Board:
    """The weights of one query, divided and not."""
    row = score_row(d_k, seed)
    return Board(
        (
            weights_panel("control", softmax(row / math.sqrt(d_k)), sums="rows"),
            weights_panel("changed", softmax(row), sums="rows"),
        )
    )


def score_row(d_k: int, seed: int) -> Matrix:
    """The scores of the first of these queries."""
    return scores_at(d_k, seed)[:1]


@cache
def rows_at(
    seed: int,
) -> tuple[Mapping[int, tuple[float, float]], Mapping[int, tuple[float, float]]]:
    """(mean entropy, median slope) by width, each a pair: scores divided by √d_k, and not.

    The median says what happens in a typical row: a few rows that waver between two keys keep a
    large slope, and with it the mean.
    """
    entropy: dict[int, tuple[float, float]] = {}
    gradient: dict[int, tuple[float, float]] = {}
    for width in WIDTHS:
        scores = scores_at(width, seed)
        divided, undivided = softmax(scores / math.sqrt(width)), softmax(scores)
        entropy[width] = _mean(entropy_bits(divided)), _mean(entropy_bits(undivided))
        gradient[width] = _median(gradient_size(divided)), _median(gradient_size(undivided))
    return entropy, gradient


def _mean(values: Float64[np.ndarray, "row"]) -> float:
    return float(values.mean())


def _median(values: Float64[np.ndarray, "row"]) -> float:
    return float(np.median(values))


def gradient_size(weights: Float64[np.ndarray, "row key"]) -> Float64[np.ndarray, "row"]:
    """The Frobenius norm of ∂weights/∂scores = diag(a) − a·aᵀ, for each row."""
    square = (weights**2).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(square - 2 * (weights**3).sum(axis=1) + square**2, 0)))


def mean_slope(d_k: int, seed: int) -> float:
    """The mean slope of the undivided scores of a width."""
    return _mean(gradient_size(softmax(scores_at(d_k, seed))))


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
    } | places(pictures)
    return Card("pictures", numbers, question=question)


def _row(seed: int) -> Matrix:
    return np.array([SCORES[seed % len(SCORES)]])


def temperature(inputs: CardInputs) -> Card:
    """The experiment: the same scores at another temperature, beside temperature 1."""
    temperature, scores = inputs.number("temperature"), _row(inputs.seed)
    board = Board(
        (
            weights_panel("control", softmax(scores), decimals=3, sums="rows"),
            weights_panel("changed", softmax(scores / temperature), decimals=3, sums="rows"),
        )
    )
    axis = np.geomspace(TEMPERATURES[0], TEMPERATURES[-1], 60)
    weights = np.concatenate([softmax(scores / value) for value in axis])
    lines = tuple(Series(f"key{key}", axis, weights[:, key]) for key in range(scores.shape[1]))
    chart = Chart("temperature", "weight", lines, log_x=True, marked_x=temperature)
    numbers = {
        "temperature": temperature,
        "largest": softmax(scores / temperature).max(),
        "control": softmax(scores).max(),
        "uniform": 1 / scores.shape[1],
        "root": 8,
        "d_k": 64,
    }
    question = ChoiceQuestion(("one", "even", "zero"), "even")
    return Card("temperature", numbers, (), question, (board, chart))


def _shift(inputs: CardInputs) -> Card:
    """A constant added to every score of a row, and a factor for every score."""
    scores = _row(inputs.seed)
    before, added, doubled = (softmax(changed) for changed in (scores, scores + ADDED, 2 * scores))
    board = Board(
        (
            Panel("scores", scores, decimals=1),
            weights_panel("before", before, before="→", decimals=3, sums="rows"),
        )
    )
    solution = Board(
        (
            weights_panel("added", added, decimals=3, sums="rows"),
            weights_panel("doubled", doubled, decimals=3, sums="rows"),
        )
    )
    numbers = {
        "added": ADDED,
        "difference": float(np.abs(added - before).max()),
        "doubled": doubled.max(),
        "before": before.max(),
    }
    question = ChoiceQuestion(("sharper", "nothing", "flatter"), "nothing")
    names = tuple(str(key) for key in range(scores.shape[1]))
    film = Motion(
        "softmax", {"scores": scores}, {"keys": names}, scenes=("scores",), handles=("scores",)
    )
    return Card("shift", numbers, (board,), question, (solution, film))


def _real(inputs: CardInputs) -> Card:
    """One row of the head, as trained and with the chosen divisor."""
    text = typed(inputs)
    captured = inputs.capture(MODEL, text)
    query, _ = strongest(captured, LAYER, HEAD)
    call = captured.call(LAYER)
    d_k = call.inputs.d_head or 1
    divisor = {"none": 1.0, "root": math.sqrt(d_k), "whole": float(d_k)}[inputs.text("by")]
    scores = [call.stages(head)["scores"] for head in range(call.n_heads)]
    own, changed = (
        as_numbers(formula.weights(formula.scaled(scores[HEAD], 1 / by)))
        for by in (math.sqrt(d_k), divisor)
    )
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
    numbers: Numbers = {
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


def controls() -> tuple[Control, ...]:
    """The controls: a sentence and a divisor."""
    return text_control(SHORT), Pick("by", ("none", "root", "whole"), "none")


LESSON = Lesson(
    "scale",
    needs=("block",),
    recipes=(
        Recipe("grows", _grows),
        Recipe("divisor", _divisor),
        Recipe("slope", _slope),
        Recipe("lab", _lab, (Slider("d_k", tuple(map(float, WIDTHS)), 64.0),), "experiment"),
        Recipe("pictures", _pictures),
        Recipe(
            "temperature", temperature, (Slider("temperature", TEMPERATURES, 4.0),), "experiment"
        ),
        Recipe("shift", _shift),
        Recipe("real", _real, controls(), "experiment"),
    ),
)
