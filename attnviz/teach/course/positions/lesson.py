"""Lesson 6, positions: attention without them, and three ways to encode them.

Sources: Vaswani et al. 2017, section 3.5, and the course texts that work through the sinusoidal
table and the permutation of tokens. The tables are in `encodings`, the rotary cards in
`rotary`. The layer with shuffled tokens is the embedded `mha-55`: no mask, no positions.
"""

import math

import numpy as np

from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion.scenes import Motion
from attnviz.teach.course.arrays import apart
from attnviz.teach.course.positions.encodings import angles, before_training, learned, sinusoidal
from attnviz.teach.course.positions.rotary import distance, turn
from attnviz.teach.course.positions.word_order import broken, order, order_controls, shuffle
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    Chart,
    ChoiceQuestion,
    NumberQuestion,
    Pick,
    Series,
    Slider,
)

TO_TWO_DIGITS = 0.006
WIDTH, SHOWN = 8, 6
LONG = 12
NEAR, FAR = 7, 60  # positions that the film of the clocks passes in its two scenes
ROW = 20
MAX_DISTANCE = 64
SHIFTS = (0.0, 1.0, 5.0, 20.0, 50.0, 100.0)


def _table(inputs: CardInputs) -> Card:
    """One cell of the sinusoidal table, by its formula."""
    pos, column = 1 + (1 + inputs.seed) % 4, 1
    all_angles, table = angles(SHOWN, WIDTH), sinusoidal(SHOWN, WIDTH)
    angle, answer = float(all_angles[pos, column]), float(table[pos, column])
    wrong = {
        "sine": math.sin(angle),
        "degrees": math.cos(math.radians(angle)),
        "column": math.cos(pos / 10_000 ** (column / WIDTH)),
    }
    board = Board(
        (
            Panel("angles", all_angles, decimals=3, signed=False),
            Panel("table", table, before="→", hidden=True),
        )
    )
    question = NumberQuestion(answer, TO_TWO_DIGITS, apart(answer, wrong, TO_TWO_DIGITS))
    numbers = {"pos": pos, "column": column, "d": WIDTH, "angle": angle, "answer": answer}
    return Card("table", numbers, (board,), question)


def _waves(inputs: CardInputs) -> Card:
    """The question asks for the columns that change slowest, the last pair."""
    long = sinusoidal(LONG, WIDTH)
    last = WIDTH - 2
    rows = range(LONG)
    wrong = {
        "fast": frozenset((row, column) for row in rows for column in (0, 1)),
        "middle": frozenset((row, column) for row in rows for column in range(2, last)),
    }
    right = frozenset((row, column) for row in rows for column in (last, last + 1))
    periods = 2 * math.pi * 10_000 ** (2 * np.arange(WIDTH // 2) / WIDTH)
    numbers = {
        "first_period": float(periods[0]),
        "last_period": float(periods[-1]),
        "last": last,
        "last_cos": last + 1,
    }
    names = tuple(f"series.pair{pair}" for pair in range(WIDTH // 2))
    film = Motion(
        "clocks",
        {"periods": periods[None], "reach": np.array([[NEAR, FAR]], dtype=np.float64)},
        named={"pairs": names, "position": ("axis.position",)},
    )
    question = CellQuestion("table", right, wrong)
    return Card("waves", numbers, (Board((Panel("table", long),)),), question, (film,))


def _offsets(inputs: CardInputs) -> Card:
    """Products of rows of the table; they are equal at equal distances."""
    table = sinusoidal(SHOWN, WIDTH)
    products = table @ table.T
    row, column = 1, 3 + inputs.seed % 2
    gap = column - row
    cells = [(r, c) for r in range(SHOWN) for c in range(SHOWN)]
    right = {(r, c) for r, c in cells if abs(r - c) == gap} - {(row, column)}
    wrong = {
        "itself": frozenset({(row, column)}),
        "row": frozenset((row, c) for c in range(SHOWN)) - right - {(row, column)},
        "column": frozenset((r, column) for r in range(SHOWN)) - right - {(row, column)},
    }
    draws = np.random.default_rng(6 + inputs.seed)
    others = draws.normal(size=table.shape)
    others *= np.linalg.norm(table[0]) / np.linalg.norm(others, axis=1, keepdims=True)
    board = Board(
        (
            Panel("table", table),
            Panel("products", products, before="→", hidden=True, scale="products"),
        )
    )
    control = Board((Panel("random", others @ others.T, scale="products"),))
    diagonals = [np.diag(products, k) for k in range(SHOWN)]
    numbers = {
        "row": row,
        "column": column,
        "gap": gap,
        "value": float(products[row, column]),
        "spread": float(max(np.ptp(diagonal) for diagonal in diagonals)),
        "random_spread": float(max(np.ptp(np.diag(others @ others.T, k)) for k in range(1, 5))),
    }
    question = CellQuestion("products", frozenset(right), wrong)
    return Card("offsets", numbers, (board,), question, (control,))


def _cosine_by_distance(table: np.ndarray) -> np.ndarray:
    """The mean cosine of two rows, for each distance between them."""
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    cosine = unit @ unit.T
    return np.array([np.diag(cosine, gap).mean() for gap in range(1, MAX_DISTANCE + 1)])


def _learned(inputs: CardInputs) -> Card:
    """A trained table beside the one with which its training began, and beside a random one."""
    table, start = learned().astype(np.float64), before_training()
    random = np.random.default_rng(inputs.seed).normal(size=table.shape)
    gaps = np.arange(1, MAX_DISTANCE + 1, dtype=np.float64)
    after, before, control = (_cosine_by_distance(rows) for rows in (table, start, random))
    series = (Series("learned", gaps, after), Series("start", gaps, before))
    chart = Chart("distance", "cosine", (*series, Series("random", gaps, control)))
    numbers = {
        "rows": len(table),
        "d_model": table.shape[1],
        "row": ROW,
        "near": ROW + 1,
        "pair_before": _cosine(start[ROW], start[ROW + 1]),
        "pair_after": _cosine(table[ROW], table[ROW + 1]),
        "mean_before": float(before[0]),
        "mean_after": float(after[0]),
        "random": float(control[0]),
    }
    question = ChoiceQuestion(("made", "kept", "lost"), "kept")
    return Card("learned", numbers, (), question, (chart,))


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


LESSON = Lesson(
    "positions",
    needs=("ask",),
    recipes=(
        Recipe("shuffle", shuffle),
        Recipe(
            "broken",
            broken,
            (Pick("way", ("none", "sinusoidal", "rotary", "causal"), "sinusoidal"),),
            "experiment",
        ),
        Recipe("table", _table),
        Recipe("waves", _waves),
        Recipe("offsets", _offsets),
        Recipe("learned", _learned),
        Recipe("turn", turn),
        Recipe("distance", distance, (Slider("shift", SHIFTS, 5.0),), "experiment"),
        Recipe("order", order, order_controls(), "experiment"),
    ),
)
