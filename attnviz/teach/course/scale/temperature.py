"""Cards of lesson 3 about temperature: softmax(scores / T), of which √d_k is one case.

In: a row of scores. Out: cards about the keys that lose weight when T rises, about any T, and about
a constant added to all scores, which changes nothing. Source: the definition of softmax.
"""

from functools import partial

import numpy as np

from attnviz.pictures.board import Board, Panel
from attnviz.teach.course.arrays import Matrix, softmax
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards.card import Card, CellQuestion, Chart, ChoiceQuestion, Series

TEMPERATURES = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0, 64.0)
HOTTER = 4.0
SCORES = ((3.0, 1.0, 2.0, 0.0, -1.0), (0.5, 2.5, 1.5, -0.5, 0.0), (1.0, -1.0, 0.0, 4.0, 2.0))
ADDED = 100.0

weights_panel = partial(Panel, signed=False)


def _row(seed: int) -> Matrix:
    return np.array([SCORES[seed % len(SCORES)]])


def loses(inputs: CardInputs) -> Card:
    """A higher temperature; the question asks for a key that loses weight."""
    cool, hot = softmax(_row(inputs.seed)), softmax(_row(inputs.seed) / HOTTER)
    board = Board(
        (
            Panel("scores", _row(inputs.seed), decimals=1),
            weights_panel("cool", cool, before="→", sums="rows"),
        )
    )
    hot_board = Board((weights_panel("hot", hot, sums="rows"),))
    loses = frozenset((0, int(key)) for key in np.flatnonzero(hot[0] < cool[0]))
    gains = frozenset((0, int(key)) for key in np.flatnonzero(hot[0] >= cool[0]))
    numbers = {
        "temperature": HOTTER,
        "before": cool.max(),
        "after": hot.max(),
        "losing": ", ".join(str(key) for _, key in sorted(loses)),
        "uniform": 1 / cool.shape[1],
    }
    question = CellQuestion("cool", loses, {"gains": gains}, also=("scores",))
    return Card("loses", numbers, (board,), question, (hot_board,))


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


def shift(inputs: CardInputs) -> Card:
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
    return Card("shift", numbers, (board,), question, (solution,))
