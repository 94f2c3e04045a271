"""Lesson 2, queries ask, keys answer, values speak: three roles, and which axis sums to one.

    x'_i = Σ_j a_j·v_j,   a = softmax(s_i),   s_ij = q_i·k_j / √d          (Vaswani et al. 2017)

Source: a lecture note's NumPy example, `preset("seeded")`: Q, K, V drawn from seed 0, five rows of
three. It divides by d and normalises columns; the learner finds out both. Real: a MiniLM head.
"""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from attnviz.course.arrays import Matrix, apart, softmax
from attnviz.course.ask.printed import axis, digits, divisor, repair
from attnviz.course.ask.real import real, text_control
from attnviz.course.recipe import Ask, Lesson, Recipe
from attnviz.lessons.cards.card import (
    Board,
    Card,
    CellQuestion,
    Chart,
    ChoiceQuestion,
    NumberQuestion,
    Panel,
    Pick,
    Series,
    Slider,
)

TOLERANCE = 0.006
# three tokens of the first card: what "it" asks, what the three answer, what they have to say
WORDS = ("animal", "street", "it")
Q_IT = np.array([[2.0, 1.0]])
KEYS = np.array([[2.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
VALUES = np.array([[4.0, 0.0], [0.0, 4.0], [2.0, 2.0]])
LEAD = 5.0
# the experiment: a query of this length turns among keys that stand at these angles
LENGTH, KEY_ANGLES = 4.0, (0.0, 120.0, 240.0)
TURN_VALUES = np.array([[4.0, 0.0], [0.0, 4.0], [-4.0, 1.0]])
STOPS = tuple(float(angle) for angle in range(0, 360, 30))

weights_panel = partial(Panel, signed=False)


def _roles(ask: Ask) -> Card:
    """One query among three keys; then the same with other values."""
    values = _whole(ask.seed, VALUES)
    others = VALUES[::-1] - np.array([[1.0, 3.0]])
    scaled = Q_IT @ KEYS.T / math.sqrt(Q_IT.shape[1])
    weights = softmax(scaled)
    row = WORDS[2:]
    shown_weights = weights_panel("weights", weights, rows=row, columns=WORDS, sums="rows")
    asked = Board(
        (
            Panel("q", Q_IT, rows=row, decimals=0),
            Panel("k_t", KEYS.T.copy(), before="·", columns=WORDS, decimals=0),
            Panel("scaled", scaled, before="→", rows=row, columns=WORDS),
            replace(shown_weights, before="→"),
        )
    )
    said = Board(
        (
            shown_weights,
            Panel("values", values, before="·", rows=WORDS, decimals=0, scale="value"),
            Panel("output", weights @ values, before="=", rows=row, scale="value"),
        )
    )
    after = Board(
        (
            shown_weights,
            Panel("others", others, before="·", rows=WORDS, decimals=0, scale="value"),
            Panel("output", weights @ others, before="=", rows=row, scale="value"),
        )
    )
    question = ChoiceQuestion(("weights", "output", "both"), "output")
    return Card("roles", {"d": Q_IT.shape[1]}, (asked, said), question, (after,))


def _whole(seed: int, given: Matrix) -> Matrix:
    """These numbers for seed 0, drawn whole numbers of the same shape else."""
    if seed == 0:
        return given
    return np.random.default_rng(seed).integers(-3, 5, size=given.shape).astype(np.float64)


def _score(ask: Ask) -> Card:
    """The score of one query and one key of four numbers each."""
    q, k = np.array([[1.0, 0.0, 2.0, 3.0]]), np.array([[2.0, 1.0, -1.0, 2.0]])
    if ask.seed:
        draws = np.random.default_rng(ask.seed)
        q, k = (draws.integers(1, 4, size=(1, 4)).astype(np.float64) for _ in range(2))
    product, d = float((q @ k.T)[0, 0]), q.shape[1]
    answer = product / math.sqrt(d)
    wrong = {"product": product, "whole": product / d, "times": product * math.sqrt(d)}
    board = Board((Panel("q", q, decimals=0), Panel("k_t", k.T.copy(), before="·", decimals=0)))
    question = NumberQuestion(answer, TOLERANCE, apart(answer, wrong, TOLERANCE))
    terms = " + ".join(f"{one:.0f}×{other:.0f}" for one, other in zip(q[0], k[0], strict=True))
    numbers = {
        "d": d,
        "root": math.sqrt(d),
        "product": product,
        "score": answer,
        "terms": terms.replace("-", "−"),
    }
    return Card("score", numbers, (board,), question)


def _onehot(ask: Ask) -> Card:
    """All weight on one key returns its value exactly; a lead in the scores does so nearly."""
    values = _whole(
        ask.seed, np.array([[1.0, 5.0, -2.0], [0.0, 3.0, 3.0], [4.0, -1.0, 2.0], [2.0, 2.0, 0.0]])
    )
    at = (2, 1, 3)[ask.seed % 3]
    onehot = np.eye(len(values))[[at]]
    nearly = softmax(LEAD * onehot)
    board = Board(
        (
            weights_panel("weights", onehot),
            Panel("values", values, before="·", decimals=0, scale="value"),
            Panel("output", onehot @ values, before="=", hidden=True, scale="value"),
        )
    )
    near = Board(
        (
            weights_panel("nearly", nearly, decimals=3, sums="rows"),
            Panel("output", nearly @ values, before="→", decimals=3, scale="value"),
        )
    )
    rows = {row: frozenset((row, column) for column in range(3)) for row in range(len(values))}
    question = CellQuestion("values", rows[at], {"first": rows[0]})
    numbers = {
        "key": at,
        "difference": float(np.abs(onehot @ values - values[at]).max()),
        "lead": LEAD,
        "weight": nearly[0, at],
    }
    return Card("onehot", numbers, (board,), question, (near,))


def _around(angle: float) -> Matrix:
    """The weights of a query that points at this angle, in degrees."""
    return softmax(LENGTH * _unit(angle) @ _key_units().T / math.sqrt(2))


def _unit(angle: float) -> Matrix:
    return np.array([[math.cos(math.radians(angle)), math.sin(math.radians(angle))]])


def _key_units() -> Matrix:
    return np.concatenate([_unit(angle) for angle in KEY_ANGLES])


def _turn(ask: Ask) -> Card:
    """The experiment: a query turns; the control is a query of zeros, which asks for nothing."""
    angle = ask.number("angle")
    turned, asks_nothing = _around(angle), softmax(np.zeros((1, len(KEY_ANGLES))))
    degrees = np.linspace(0, 360, 73)
    by_angle = np.concatenate([_around(float(each)) for each in degrees])
    lines = tuple(Series(f"key{key}", degrees, by_angle[:, key]) for key in range(len(KEY_ANGLES)))
    control = Board(
        (
            weights_panel("control", asks_nothing, sums="rows"),
            Panel("control_output", asks_nothing @ TURN_VALUES, before="→", scale="value"),
        )
    )
    changed = Board(
        (
            weights_panel("changed", turned, sums="rows"),
            Panel("output", turned @ TURN_VALUES, before="→", scale="value"),
        )
    )
    numbers = {"angle": angle, "key": int(turned.argmax()), "weight": turned.max()}
    numbers |= {"uniform": asks_nothing[0, 0]}
    numbers |= {f"angle{key}": round(each) for key, each in enumerate(KEY_ANGLES)}
    chart = Chart("angle", "weight", lines, marked_x=angle)
    return Card("turn", numbers, (control, changed, chart))


LESSON = Lesson(
    "ask",
    minutes=8,
    recipes=(
        Recipe("roles", _roles),
        Recipe("score", _score),
        Recipe("onehot", _onehot),
        Recipe("turn", _turn, (Slider("angle", STOPS, 30.0),), "experiment"),
        Recipe("axis", axis),
        Recipe("divisor", divisor),
        Recipe(
            "repair",
            repair,
            (Pick("sums", ("columns", "rows"), "columns"), Pick("by", ("whole", "root"), "root")),
            "experiment",
        ),
        Recipe("digits", digits),
        Recipe("real", real, (text_control(),)),
    ),
)
